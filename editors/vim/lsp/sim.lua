-- The Sim language server, for Neovim 0.11 and later: `vim.lsp.enable("sim")` turns it on.
return {
  cmd = { "simc", "lsp" },
  filetypes = { "sim" },
  root_markers = { ".git" },
}

" Vim itself takes `.sim` for Simula, so the type is set, not only proposed.
autocmd BufNewFile,BufRead *.sim set filetype=sim

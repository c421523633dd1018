-- The language server in Neovim's own client: a mistake is shown, explained and mended. `SIMC` is the command.

-- Opens an example, in which a name is misspelt.
local function example(misspelt)
  local lines = vim.fn.readfile("lang-examples/ornstein_uhlenbeck.sim")
  for row, line in ipairs(lines) do
    lines[row] = line:gsub("= sigma %*", "= " .. misspelt .. " *")
  end
  local file = vim.fn.tempname() .. ".sim"
  vim.fn.writefile(lines, file)
  vim.cmd("filetype plugin indent on")
  vim.cmd("edit " .. file)
end

local function start()
  local config = { name = "sim", cmd = { vim.env.SIMC, "lsp" }, root_dir = vim.fn.getcwd() }
  if vim.lsp.start then
    return vim.lsp.start(config)
  end
  local id = vim.lsp.start_client(config)
  vim.lsp.buf_attach_client(0, id)
  return id
end

-- The place of a text: a line from 1, a column from 0.
local function find(text)
  for row, line in ipairs(vim.api.nvim_buf_get_lines(0, 0, -1, false)) do
    local column = line:find(text, 1, true)
    if column then
      return row, column - 1
    end
  end
  error("no `" .. text .. "`")
end

local function request(method, params)
  local answers = assert(vim.lsp.buf_request_sync(0, method, params, 10000), method .. ": no answer")
  for _, answer in pairs(answers) do
    assert(not answer.err and not answer.error, method .. ": " .. vim.inspect(answer))
    return answer.result
  end
end

local function ask(method, text, after)
  local row, column = find(text)
  vim.api.nvim_win_set_cursor(0, { row, column + (after or 0) })
  return request("textDocument/" .. method, vim.lsp.util.make_position_params(0, "utf-16"))
end

local function settle(count)
  vim.wait(10000, function() return #vim.diagnostic.get(0) == count end, 10)
  local found = vim.diagnostic.get(0)
  assert(#found == count, vim.inspect(found))
  return found
end

local function test()
  example("sigmo")
  assert(vim.bo.filetype == "sim", vim.bo.filetype)
  assert(start(), "the server does not start")

  local mistake = settle(1)[1]
  assert(mistake.message:find("unknown name `sigmo`", 1, true), mistake.message)
  assert(mistake.lnum + 1 == find("sigmo"))

  local hover = ask("hover", "speed * dt").contents.value
  assert(hover:find("param speed: f32", 1, true) and hover:find("Rate of return", 1, true), hover)
  local target = ask("definition", "decay * decay").range.start
  assert(target.line + 1 == find("let decay"), vim.inspect(target))
  local labels = {}
  for _, item in ipairs(ask("completion", "x = normal", 4)) do
    labels[item.label] = true
  end
  assert(labels.spread and labels.speed and labels.exp and not labels.output, vim.inspect(labels))

  local place = { mistake.lnum + 1, mistake.col }
  local params = vim.lsp.util.make_given_range_params(place, place, 0, "utf-16")
  params.context = { diagnostics = {} }
  local actions = request("textDocument/codeAction", params)
  assert(actions[1].title == "Write `sigma`", vim.inspect(actions))
  vim.lsp.util.apply_workspace_edit(actions[1].edit, "utf-16")
  settle(0)

  local kernel = request("workspace/executeCommand", {
    command = "simc.wgsl",
    arguments = { vim.uri_from_bufnr(0) },
  })
  assert(kernel.text:find("fn main", 1, true) and #kernel.lines > 3)
end

local ok, why = pcall(test)
if not ok then
  io.stderr:write(tostring(why), "\n")
end
vim.cmd(ok and "qall!" or "cquit 1")

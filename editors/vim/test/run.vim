" Opens every legal file in Vim or Neovim: `vim -Nu NONE -n -i NONE -es -S editors/vim/test/run.vim`, at the
" top of the repository. Writes what is wrong to $SIM_VIM_REPORT, and exits with 1 if anything is.

set nocompatible
set runtimepath^=editors/vim
set hidden noswapfile synmaxcol=0
filetype plugin indent on
syntax on

let s:wrong = []
let s:count = 0

function! s:Complain(text) abort
  call add(s:wrong, a:text)
endfunction

function! s:Group(line, column) abort
  return synIDattr(synID(a:line, a:column, 1), 'name')
endfunction

" Every sign of a legal file is in a group, and in none that says it is wrong.
function! s:Covered(file) abort
  for line in range(1, line('$'))
    let text = getline(line)
    for column in range(1, len(text))
      if text[column - 1] =~# '\S'
        let s:count += 1
        let group = s:Group(line, column)
        if group ==# '' || group ==# 'simReserved'
          call s:Complain(a:file . ':' . line . ':' . column . ': group "' . group . '": ' . text)
          break
        endif
      endif
    endfor
  endfor
endfunction

" Indentation gives the file back.
function! s:Indented(file) abort
  let before = getline(1, '$')
  silent normal! gg=G
  let after = getline(1, '$')
  if before !=# after
    for index in range(len(before))
      if before[index] !=# get(after, index, '')
        call s:Complain(a:file . ':' . (index + 1) . ': indented as "' . after[index] . '"')
        break
      endif
    endfor
  endif
endfunction

" From no indentation at all, blocks are indented again.
function! s:Rebuilt(lines) abort
  enew!
  set filetype=sim
  call setline(1, map(copy(a:lines), 'trim(v:val)'))
  silent normal! gg=G
  if getline(1, '$') !=# a:lines
    call s:Complain('rebuilt as ' . string(getline(1, '$')))
  endif
endfunction

" A line, a word of it, its group.
let s:cases = [
      \ ['agents 1_000', 'agents', 'simDeclaration'],
      \ ['output x = agents * 2', 'agents', 'simValue'],
      \ ['const DT = 0.5', 'const', 'simDeclaration'],
      \ ['const DT = 0.5', 'DT', 'simDeclared'],
      \ ['param rate = 0.5 in 0.0..1.0', 'rate', 'simDeclared'],
      \ ['param rate = 0.5 in 0.0..1.0', 'in', 'simRepeat'],
      \ ['param rate = 0.5 in 0.0..1.0', '0.5', 'simFloat'],
      \ ['for i in 0..16 {', '0', 'simNumber'],
      \ ['for i in 0..16 {', '..', 'simOperator'],
      \ ['for i in 0..16 {', 'i', 'simDeclared'],
      \ ['output x = 1. + y', '1.', 'simFloat'],
      \ ['output x = 0xffu + y', '0xffu', 'simNumber'],
      \ ['output x = 1e-3 + y', '1e-3', 'simFloat'],
      \ ['fn squash(a: f32) -> Order {', 'squash', 'simFunction'],
      \ ['fn squash(a: f32) -> Order {', 'f32', 'simType'],
      \ ['fn squash(a: f32) -> Order {', 'Order', 'simTypeName'],
      \ ['struct order { price: f32 }', 'order', 'simTypeDeclared'],
      \ ['enum Health { Susceptible, Infected }', 'Infected', 'simVariant'],
      \ ['output x = order.price', 'price', 'simField'],
      \ ['output x = Order(1.0)', 'Order', 'simConstructor'],
      \ ['output x = sum(for i in 0..3: i)', 'sum', 'simBuiltin'],
      \ ['output x = sum + 1', 'sum', 'simVariable'],
      \ ['output x = normal()', 'normal', 'simDraw'],
      \ ['output x = double(y)', 'double', 'simCall'],
      \ ['output x = step(0.5, y)', 'step', 'simBuiltin'],
      \ ['output x = bitcast<u32>(y)', 'bitcast', 'simBitcast'],
      \ ['step t {', 'step', 'simPhase'],
      \ ['step t {', 't', 'simDeclared'],
      \ ['    let x = a && true', 'let', 'simStorage'],
      \ ['    let x = a && true', 'x', 'simDeclared'],
      \ ['    let x = a && true', '&&', 'simOperator'],
      \ ['    let x = a && true', 'true', 'simBoolean'],
      \ ['    while a > b limit 8 {', 'limit', 'simRepeat'],
      \ ['    limit = limit + 1', 'limit', 'simVariable'],
      \ ['    integrate rk4(DT) {', 'integrate', 'simStatement'],
      \ ['    integrate rk4(DT) {', 'rk4', 'simMethod'],
      \ ["    theta' = omega", "'", 'simOperator'],
      \ ['    if a { stop }', 'if', 'simConditional'],
      \ ['    if a { stop }', 'stop', 'simStatement'],
      \ ['    if a { stop }', '{', 'simDelimiter'],
      \ ['near', 'near', 'simReserved'],
      \ ['record price every 21', 'record', 'simDeclaration'],
      \ ['record price every 21', 'price', 'simDeclared'],
      \ ['record price every 21', 'every', 'simDeclaration'],
      \ ['observe spread = var(price)', 'spread', 'simDeclared'],
      \ ['observe spread = var(price)', 'var', 'simBuiltin'],
      \ ['    var x = 1.0', 'var', 'simStorage'],
      \ ['    every = every + 1', 'every', 'simVariable'],
      \ ['//! The model.', '//!', 'simDoc'],
      \ ['/// A rate.', '///', 'simDoc'],
      \ ['//// A rule.', '////', 'simComment'],
      \ ['x = 1 // if', 'if', 'simComment'],
      \ ['x = 1 /* if */', 'if', 'simBlockComment'],
      \ ['/* a /* b */ if */ x', 'if', 'simBlockComment'],
      \ ['/* a // b */ if x', 'if', 'simConditional'],
      \ ]

function! s:Single() abort
  enew!
  set filetype=sim
  call setline(1, map(copy(s:cases), 'v:val[0]'))
  for index in range(len(s:cases))
    let [text, word, wanted] = s:cases[index]
    let pattern = word =~# '^\w*$' ? '\<' . word . '\>' : '\V' . word
    let group = s:Group(index + 1, match(text, pattern) + 1)
    if group !=# wanted
      call s:Complain('"' . word . '" in "' . text . '" is ' . group . ', not ' . wanted)
    endif
  endfor
endfunction

" `:make` finds the places of mistakes.
function! s:Quickfix() abort
  enew!
  set filetype=sim
  let report = [
        \ '[E0602] Error: the range 1..0 is empty',
        \ '   ╭─[ some/model.sim:2:22 ]',
        \ '   │',
        \ ' 2 │ param share = 0.5 in 1.0..0.0',
        \ '───╯',
        \ ]
  let rows = getqflist({'lines': report, 'efm': &l:errorformat}).items
  call filter(rows, 'v:val.valid')
  if len(rows) != 1 || rows[0].lnum != 2 || rows[0].col != 22 || rows[0].text !=# 'the range 1..0 is empty'
    call s:Complain('quickfix: ' . string(rows))
  endif
endfunction

try
  for s:folder in ['lang-examples', 'tests/run', 'tests/language']
    for s:file in sort(glob(s:folder . '/*.sim', 0, 1))
      execute 'silent edit' fnameescape(s:file)
      if &filetype !=# 'sim' || &shiftwidth != 4 || &commentstring !=# '// %s'
        call s:Complain(s:file . ': is no Sim file to the editor')
      endif
      call s:Covered(s:file)
      if s:folder ==# 'lang-examples'
        call s:Indented(s:file)
      endif
      silent bwipeout!
    endfor
  endfor
  for s:file in glob('tests/errors/*.sim', 0, 1)
    execute 'silent edit' fnameescape(s:file)
    for s:line in range(1, line('$'))
      call s:Group(s:line, 1)
    endfor
    silent bwipeout!
  endfor
  call s:Single()
  call s:Rebuilt([
        \ 'step t {',
        \ '    match health[t] {',
        \ '        Susceptible => {',
        \ '            if bernoulli(risk) {',
        \ '                health[t] = Infected',
        \ '            }',
        \ '        }',
        \ '        -1 => x = 1,',
        \ '        _ => {}',
        \ '    }',
        \ '    let row = [',
        \ '        1.0,',
        \ '        2.0',
        \ '    ]',
        \ '    let sum = a',
        \ '        + b',
        \ '    // A note with { in it.',
        \ '    stop',
        \ '}',
        \ '',
        \ 'output x',
        \ ])
  call s:Quickfix()
catch
  call s:Complain('error: ' . get(s:, 'file', '') . ': ' . v:exception . ' at ' . v:throwpoint)
endtry

if s:count < 10000
  call s:Complain('only ' . s:count . ' signs were looked at')
endif
call writefile(s:wrong + [s:count . ' signs looked at, ' . len(s:wrong) . ' complaints'], $SIM_VIM_REPORT)
execute len(s:wrong) == 0 ? 'qall!' : 'cquit!'

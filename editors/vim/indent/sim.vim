" Vim indent file
" Language: Sim
"
" A block is one shiftwidth deeper than the statement that opens it. A line that continues the one before
" keeps the indentation it has, as people align such lines, if it is deeper than its statement.

if exists('b:did_indent')
  finish
endif
let b:did_indent = 1

setlocal indentexpr=GetSimIndent()
setlocal indentkeys=0{,0},0),0],!^F,o,O
setlocal autoindent
let b:undo_indent = 'setlocal indentexpr< indentkeys< autoindent<'

if exists('*GetSimIndent')
  finish
endif

" A line without its comment and the white space around it.
function! s:Code(lnum) abort
  return trim(substitute(getline(a:lnum), '//.*$', '', ''))
endfunction

function! s:Commented() abort
  return getline('.')[: col('.') - 1] =~# '//'
endfunction

" The last line before this one that has code, or 0.
function! s:Before(lnum) abort
  let lnum = prevnonblank(a:lnum - 1)
  while lnum > 0 && s:Code(lnum) ==# ''
    let lnum = prevnonblank(lnum - 1)
  endwhile
  return lnum
endfunction

" Whether a line goes on with an expression of the line before it.
function! s:Continues(lnum) abort
  let code = s:Code(a:lnum)
  if code =~# '^-\=[0-9.][0-9A-Za-z_.]*\s*\%(|\|=>\)'
    return 0
  endif
  if code =~# '^\%([-+*/%<>&|^=!~]\|\.\D\|\%(in\|limit\|else\)\>\)'
    return 1
  endif
  return s:Code(s:Before(a:lnum)) =~# '\%([-+*/%<>&|^=!~:]\|\<\%(in\|limit\|return\)\)$'
endfunction

" The line at which the statement of this line begins.
function! s:Statement(lnum) abort
  let lnum = a:lnum
  while lnum > 1 && s:Continues(lnum)
    let lnum = s:Before(lnum)
  endwhile
  return lnum
endfunction

function! GetSimIndent() abort
  let lnum = v:lnum
  call cursor(lnum, 1)
  let open = searchpairpos('[{([]', '', '[])}]', 'bnW', 's:Commented()')
  if open[0] == 0
    let base = 0
    let inside = 0
  else
    let base = indent(s:Statement(open[0]))
    let inside = 1
  endif
  let code = trim(getline(lnum))
  if inside && code =~# '^[])}]'
    return base
  endif
  let bracket = inside ? getline(open[0])[open[1] - 1] : '{'
  let level = inside ? base + shiftwidth() : 0
  if bracket !=# '{'
    return indent(lnum) > base ? indent(lnum) : level
  endif
  if code !~# '^//' && s:Continues(lnum)
    return indent(lnum) > level ? indent(lnum) : level + shiftwidth()
  endif
  return level
endfunction

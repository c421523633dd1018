" Vim filetype plugin
" Language: Sim

if exists('b:did_ftplugin')
  finish
endif
let b:did_ftplugin = 1

" Comments: a new line goes on with `///`, `//!` or `//`.
setlocal comments=:///,://!,://,s:/*,e:*/
setlocal commentstring=//\ %s
setlocal formatoptions-=t formatoptions+=croql

setlocal expandtab shiftwidth=4 softtabstop=4
setlocal suffixesadd=.sim

" `:make` checks the file and fills the quickfix list.
setlocal makeprg=simc\ check\ %:S
setlocal errorformat=%A[%t%n]\ %*[^:]:\ %m,%Z%*[\ ]╭─[\ %f:%l:%c\ ],%-G%.%#

let b:undo_ftplugin = 'setlocal comments< commentstring< formatoptions< expandtab< shiftwidth<'
      \ . ' softtabstop< suffixesadd< makeprg< errorformat<'

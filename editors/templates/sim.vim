" Vim syntax file
" Language: Sim
" The words come from the compiler: see editors/README.md before changing this file.

if exists('b:current_syntax')
  finish
endif

syn case match
syn iskeyword @,48-57,_

" Names. What follows defines more and so wins.
syn match simVariable '\<\h\w*\>'
syn match simConstant '\<\u[A-Z0-9_]*\>'
syn match simVariant '\<\u\w*\l\w*\>'
syn match simCall '\<\h\w*\ze\s*('
syn match simConstructor '\<\u\w*\ze\s*('
syn match simTypeName '\<\u\w*\l\w*\ze\s*\.'
syn match simTypeName '\%(\h\w*\s*:\s*\[*\|->\s*\[*\)\@80<=\u\w*\l\w*\>'
syn match simValue '\<\%({{bar value}}\)\>'

" Words
syn keyword simConditional {{conditional}}
syn keyword simRepeat for nextgroup=simDeclared skipwhite skipempty
syn keyword simRepeat in while
syn keyword simStatement {{jump}}
syn keyword simStatement {{check}}
syn keyword simStatement {{integrate}} nextgroup=simMethod skipwhite skipempty
syn match simStorage '\<\%({{bar binding}}\)\>\%(\s*(\)\@!' nextgroup=simDeclared skipwhite skipempty
syn keyword simBoolean {{boolean}}
syn keyword simReserved {{reserved}}
syn keyword simType {{type}}
syn keyword simBitcast {{bitcast}}
syn match simRepeat '\%([])}[:alnum:]_.]\s\)\@2<=\<limit\ze\s\+[[:alnum:]_.(]'
syn match simDeclaration '\%([])}[:alnum:]_.]\s\)\@2<=\<{{sampling}}\ze\s\+[[:alnum:]_.(]'

syn match simDeclaration '\<\%(test\|from\)\ze\s*"'
syn match simDeclaration '\%(^\s*\)\@40<=\<\%(expect\|seed\)\ze\s\+[[:alnum:]_.(!-]'
syn match simDeclaration '\%([])}[:alnum:]_.]\s\)\@2<=\<within\ze\s\+[[:alnum:]_.(]'
syn match simDeclaration '\%([])}[:alnum:]_.]\s\)\@2<=\<se\ze\s*\%($\|}\|//\)'

" Builtin functions are names like others unless they are called.
syn match simBuiltin '\<\%({{bar function fold}}\)\ze\s*('
syn match simDraw '\<\%({{bar draw}}\)\ze\s*('

" Declarations
syn match simPhase '\<\%({{bar phase}}\)\>\%(\s*(\)\@!' nextgroup=simDeclared skipwhite skipempty
syn keyword simDeclaration const param data input state output record observe nextgroup=simDeclared skipwhite skipempty
syn keyword simDeclaration fn nextgroup=simFunction skipwhite skipempty
syn keyword simDeclaration struct enum nextgroup=simTypeDeclared skipwhite skipempty
syn match simDeclaration '\%(\%(^\|[;}]\)\s*\)\@40<=\<\%(agents\|steps\|world\)\ze\s\+[[:alnum:]_.(]'
syn match simDeclared '\h\w*' contained
syn match simFunction '\h\w*' contained
syn match simMethod '\h\w*' contained
syn match simTypeDeclared '\h\w*' contained

" Numbers: `1.` is a float, the point of `1..n` is none of it.
syn match simNumber '\<\d[0-9_]*u\?\>'
syn match simNumber '\<0[xX][0-9a-fA-F_]\+u\?\>'
syn match simFloat '\<\d[0-9_]*\.\%([.[:alpha:]_]\)\@!'
syn match simFloat '\<\d[0-9_]*\.\d[0-9_]*\%([eE][+-]\?\d[0-9_]*\)\?'
syn match simFloat '\%([[:alnum:]_)\]]\)\@1<!\.\d[0-9_]*\%([eE][+-]\?\d[0-9_]*\)\?'
syn match simFloat '\<\d[0-9_]*\.\?[eE][+-]\?\d[0-9_]*'

" Signs
syn match simOperator '[-+*/%=<>!&|^~]'
syn match simOperator '\.\.'
syn match simOperator "'"
syn match simDelimiter '[][(){},;:]'
syn match simDelimiter '\.\@1<!\.\ze\s*\h' nextgroup=simField skipwhite
syn match simField '\h\w*' contained

" Texts
syn region simText start='"' skip='\\.' end='"' oneline contains=@Spell

" Comments
syn keyword simTodo TODO FIXME XXX NOTE contained
syn match simComment '//.*$' contains=simTodo,@Spell
syn region simBlockComment start='/\*' end='\*/' contains=simBlockComment,simTodo,@Spell
syn match simDoc '//!.*$' contains=@Spell
syn match simDoc '////\@!.*$' contains=@Spell

hi def link simBitcast Function
hi def link simBlockComment Comment
hi def link simBoolean Boolean
hi def link simBuiltin Function
hi def link simCall Function
hi def link simComment Comment
hi def link simConditional Conditional
hi def link simConstant Constant
hi def link simConstructor Type
hi def link simDeclaration Keyword
hi def link simDeclared Identifier
hi def link simDelimiter Delimiter
hi def link simDoc SpecialComment
hi def link simDraw Function
hi def link simField Identifier
hi def link simFloat Float
hi def link simFunction Function
hi def link simMethod Constant
hi def link simNumber Number
hi def link simOperator Operator
hi def link simPhase Keyword
hi def link simRepeat Repeat
hi def link simReserved Error
hi def link simStatement Statement
hi def link simStorage Keyword
hi def link simText String
hi def link simTodo Todo
hi def link simType Type
hi def link simTypeDeclared Type
hi def link simTypeName Type
hi def link simValue Special
hi def link simVariant Constant

let b:current_syntax = 'sim'

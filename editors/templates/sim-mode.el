;;; sim-mode.el --- Major mode for the Sim language -*- lexical-binding: t; -*-

;; Version: 0.1.0
;; Package-Requires: ((emacs "27.1"))
;; Keywords: languages
;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; Highlighting, indentation and the language server of Sim models.
;; The words come from the compiler: see editors/README.md before changing this file.

;;; Code:

(defgroup sim nil
  "Sim models."
  :group 'languages)

(defcustom sim-indent-offset 4
  "How much deeper a block is than the statement that opens it."
  :type 'integer
  :safe #'integerp)

(defcustom sim-simc-command "simc"
  "The `simc' command, which checks models and is the language server."
  :type 'string)

(defconst sim--words
  '(
    {{bitcast boolean binding check conditional integrate jump}}
    "for" "in" "while" "const" "param" "data" "input" "state" "output" "record" "observe" "fn" "struct" "enum"))

(defconst sim--phases '({{phase}}))
(defconst sim--booleans '({{boolean}}))
(defconst sim--reserved '({{reserved}}))
(defconst sim--types '({{type}}))
(defconst sim--values '({{value}}))

(defconst sim--functions
  '(
    {{function fold draw}}))

(defvar sim-mode-syntax-table
  (let ((table (make-syntax-table)))
    (modify-syntax-entry ?_ "w" table)
    (modify-syntax-entry ?/ ". 124" table)
    (modify-syntax-entry ?* ". 23bn" table)
    (modify-syntax-entry ?\n ">" table)
    (dolist (sign '(?+ ?- ?% ?& ?| ?^ ?~ ?! ?< ?> ?= ?'))
      (modify-syntax-entry sign "." table))
    (modify-syntax-entry ?\" "\"" table)
    (modify-syntax-entry ?\\ "\\" table)
    table))

(defun sim--any (words &optional after)
  "A pattern for each of WORDS as a whole, with the pattern AFTER behind it."
  (concat "\\_<" (regexp-opt words t) "\\_>" after))

(defconst sim-font-lock-keywords
  `((,(sim--any sim--booleans) . font-lock-constant-face)
    (,(sim--any sim--reserved) . font-lock-warning-face)
    ("\\_<\\(const\\|param\\|data\\|input\\|state\\|output\\|record\\|observe\\|let\\|var\\|for\\)\\s-+\\(\\w+\\)"
     (1 font-lock-keyword-face)
     (2 font-lock-variable-name-face))
    ("\\_<\\(fn\\)\\s-+\\(\\w+\\)" (1 font-lock-keyword-face) (2 font-lock-function-name-face))
    ("\\_<\\(struct\\|enum\\)\\s-+\\(\\w+\\)" (1 font-lock-keyword-face) (2 font-lock-type-face))
    ("\\_<\\(integrate\\)\\s-+\\(\\w+\\)" (1 font-lock-keyword-face) (2 font-lock-constant-face))
    ("\\_<\\(step\\)\\s-+\\(\\w+\\)\\s-*{" (1 font-lock-keyword-face) (2 font-lock-variable-name-face))
    ("\\(?:^\\|[;}]\\)\\s-*\\(agents\\|steps\\|world\\)\\s-+[[:alnum:]_.(]" (1 font-lock-keyword-face))
    ("[])}[:alnum:]_.]\\s-+\\(limit\\|{{bar sampling}}\\)\\s-+[[:alnum:]_.(]" (1 font-lock-keyword-face))
    ("\\_<\\(test\\|from\\)\\s-*\"" (1 font-lock-keyword-face))
    ("^\\s-*\\(expect\\|seed\\)\\s-+[[:alnum:]_.(!-]" (1 font-lock-keyword-face))
    ("[])}[:alnum:]_.]\\s-+\\(within\\)\\s-+[[:alnum:]_.(]" (1 font-lock-keyword-face))
    ("[])}[:alnum:]_.]\\s-+\\(se\\)\\s-*\\(?:$\\|}\\|//\\)" (1 font-lock-keyword-face))
    (,(sim--any sim--functions "\\s-*(") (1 font-lock-builtin-face))
    (,(sim--any sim--words) . font-lock-keyword-face)
    (,(sim--any sim--phases) . font-lock-keyword-face)
    (,(sim--any sim--types) . font-lock-type-face)
    (,(sim--any sim--values) . font-lock-builtin-face)
    ("\\_<[A-Z]\\w*[a-z]\\w*\\_>\\(?:\\s-*[(.]\\)" . font-lock-type-face)
    ("\\_<\\w+[ \t]*:[ \t]*\\[*\\([A-Z]\\w*[a-z]\\w*\\)" (1 font-lock-type-face))
    ("->[ \t]*\\[*\\([A-Z]\\w*[a-z]\\w*\\)" (1 font-lock-type-face))
    ("\\_<\\([a-zA-Z_]\\w*\\)\\s-*(" (1 font-lock-function-name-face))
    ("\\_<[A-Z][A-Z0-9_]*\\_>" . font-lock-constant-face)
    ("\\_<[A-Z]\\w*\\_>" . font-lock-constant-face))
  "What `sim-mode' highlights.")

(defun sim--comment-face (state)
  "The face of the comment or string that STATE is in."
  (cond
   ((nth 3 state) font-lock-string-face)
   ((save-excursion
      (goto-char (nth 8 state))
      (looking-at "//!\\|///\\(?:[^/]\\|$\\)"))
    font-lock-doc-face)
   (t font-lock-comment-face)))

(defun sim--code (&optional skip)
  "The code of this line without its comment.
With SKIP, go up to the line of code before this one first."
  (when skip
    (forward-line -1)
    (while (and (not (bobp)) (looking-at "\\s-*\\(?://.*\\)?$"))
      (forward-line -1)))
  (string-trim
   (replace-regexp-in-string
    "//.*" "" (buffer-substring-no-properties (line-beginning-position) (line-end-position)))))

(defun sim--continues-p ()
  "Whether this line continues an expression of the line before it."
  (save-excursion
    (beginning-of-line)
    (let ((code (sim--code)))
      (cond
       ((string-match-p "\\`-?[0-9.][[:alnum:]_.]*\\s-*\\(?:|\\|=>\\)" code) nil)
       ((string-match-p "\\`\\(?:[-+*/%<>&|^=!~]\\|\\.[^0-9]\\|\\(?:in\\|limit\\|else\\)\\_>\\)" code) t)
       ((bobp) nil)
       (t (string-match-p "\\(?:[-+*/%<>&|^=!~:]\\|\\_<\\(?:in\\|limit\\|return\\)\\)\\'"
                          (sim--code 'skip)))))))

(defun sim--statement-indentation (position)
  "The indentation of the statement that the line of POSITION belongs to."
  (save-excursion
    (goto-char position)
    (while (and (sim--continues-p) (not (bobp)))
      (sim--code 'skip))
    (current-indentation)))

(defun sim--wanted-indentation ()
  "How far this line is to be indented.
A line that continues the one before keeps what it has, as people
align such lines, if it is deeper than its statement."
  (save-excursion
    (beginning-of-line)
    (let* ((open (nth 1 (syntax-ppss)))
           (base (if open (sim--statement-indentation open) 0))
           (level (if open (+ base sim-indent-offset) 0))
           (now (current-indentation)))
      (back-to-indentation)
      (cond
       ((and open (looking-at "[])}]")) base)
       ((and open (/= (char-after open) ?{)) (if (> now base) now level))
       ((looking-at "//") level)
       ((sim--continues-p) (if (> now level) now (+ level sim-indent-offset)))
       (t level)))))

(defun sim-indent-line ()
  "Indent this line."
  (interactive)
  (let ((wanted (sim--wanted-indentation)))
    (if (<= (current-column) (current-indentation))
        (indent-line-to wanted)
      (save-excursion (indent-line-to wanted)))))

;;;###autoload
(define-derived-mode sim-mode prog-mode "Sim"
  "Major mode for models in the Sim language."
  (setq-local comment-start "// ")
  (setq-local comment-start-skip "//+[!]?\\s-*")
  (setq-local comment-end "")
  (setq-local indent-line-function #'sim-indent-line)
  (setq-local indent-tabs-mode nil)
  (setq-local font-lock-defaults
              '(sim-font-lock-keywords nil nil nil
                (font-lock-syntactic-face-function . sim--comment-face)))
  (setq-local imenu-generic-expression
              '((nil "^\\(?:const\\|param\\|data\\|input\\|state\\|output\\|record\\|observe\\|fn\\|struct\\|enum\\)\\s-+\\(\\w+\\)" 1)))
  (setq-local compile-command
              (concat sim-simc-command " check "
                      (and buffer-file-name (shell-quote-argument buffer-file-name)))))

;;;###autoload
(add-to-list 'auto-mode-alist '("\\.sim\\'" . sim-mode))

(defvar eglot-server-programs)
(with-eval-after-load 'eglot
  (add-to-list 'eglot-server-programs
               (cons 'sim-mode (lambda (&rest _) (list sim-simc-command "lsp")))))

(defvar compilation-error-regexp-alist)
(defvar compilation-error-regexp-alist-alist)
(with-eval-after-load 'compile
  (add-to-list 'compilation-error-regexp-alist-alist
               '(simc "^\\s-*╭─\\[ \\(.*\\):\\([0-9]+\\):\\([0-9]+\\) \\]$" 1 2 3))
  (add-to-list 'compilation-error-regexp-alist 'simc))

(provide 'sim-mode)

;;; sim-mode.el ends here

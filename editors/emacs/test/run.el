;;; run.el --- Opens every legal file in Emacs -*- lexical-binding: t; -*-

;; At the top of the repository: emacs -Q --batch -l editors/emacs/test/run.el

(setq make-backup-files nil create-lockfiles nil)
(require (quote bytecomp))
(load (expand-file-name "editors/emacs/sim-mode.el") nil t)

(defvar wrong nil)
(defvar faces 0)

(defun complain (form &rest values)
  (push (apply #'format form values) wrong))

(defun open (file)
  (let ((buffer (find-file-noselect file t)))
    (with-current-buffer buffer
      (unless (eq major-mode 'sim-mode)
        (complain "%s: opened in %s" file major-mode))
      (font-lock-ensure))
    buffer))

(defun indented (file)
  (let ((before (buffer-substring-no-properties (point-min) (point-max))))
    (indent-region (point-min) (point-max))
    (let ((at (compare-strings before nil nil (buffer-substring-no-properties (point-min) (point-max)) nil nil)))
      (unless (eq at t)
        (goto-char (abs at))
        (complain "%s:%d: indented as %S" file (line-number-at-pos)
                  (buffer-substring-no-properties (line-beginning-position) (line-end-position)))))))

(defun face-of (line word)
  (with-temp-buffer
    (sim-mode)
    (insert line)
    (font-lock-ensure)
    (goto-char (point-min))
    (re-search-forward (if (string-match-p "\\`\\w+\\'" word) (format "\\_<%s\\_>" word) (regexp-quote word)))
    (get-text-property (match-beginning 0) 'face)))

(defconst cases
  '(("agents 1_000" "agents" font-lock-keyword-face)
    ("output x = agents * 2" "agents" font-lock-builtin-face)
    ("const DT = 0.5" "const" font-lock-keyword-face)
    ("const DT = 0.5" "DT" font-lock-variable-name-face)
    ("fn squash(a: f32) -> Order {" "squash" font-lock-function-name-face)
    ("fn squash(a: f32) -> Order {" "f32" font-lock-type-face)
    ("fn squash(a: f32) -> Order {" "Order" font-lock-type-face)
    ("struct order { price: f32 }" "order" font-lock-type-face)
    ("output x = sum(for i in 0..3: i)" "sum" font-lock-builtin-face)
    ("output x = sum + 1" "sum" nil)
    ("output x = double(y)" "double" font-lock-function-name-face)
    ("output x = step(0.5, y)" "step" font-lock-builtin-face)
    ("step t {" "step" font-lock-keyword-face)
    ("step t {" "t" font-lock-variable-name-face)
    ("output x = health == Infected" "Infected" font-lock-constant-face)
    ("    while a > b limit 8 {" "limit" font-lock-keyword-face)
    ("    limit = limit + 1" "limit" nil)
    ("    integrate rk4(DT) {" "rk4" font-lock-constant-face)
    ("    let x = true" "true" font-lock-constant-face)
    ("near" "near" font-lock-warning-face)
    ("record price every 21" "record" font-lock-keyword-face)
    ("record price every 21" "price" font-lock-variable-name-face)
    ("record price every 21" "every" font-lock-keyword-face)
    ("observe spread = var(price)" "spread" font-lock-variable-name-face)
    ("observe spread = var(price)" "var" font-lock-builtin-face)
    ("    var x = 1.0" "var" font-lock-keyword-face)
    ("    every = every + 1" "every" nil)
    ("//! The model." "The" font-lock-doc-face)
    ("/// A rate." "A" font-lock-doc-face)
    ("//// A rule." "rule" font-lock-comment-face)
    ("x = 1 // if" "if" font-lock-comment-face)))

(dolist (folder '("lang-examples" "tests/run" "tests/language" "tests/errors"))
  (dolist (file (directory-files folder t "\\.sim\\'"))
    (with-current-buffer (open file)
      (let ((at (point-min)))
        (while (setq at (next-single-property-change at 'face))
          (setq faces (1+ faces))))
      (when (equal folder "lang-examples")
        (indented file))
      (set-buffer-modified-p nil)
      (kill-buffer))))

(dolist (row cases)
  (let ((face (face-of (nth 0 row) (nth 1 row))))
    (unless (eq face (nth 2 row))
      (complain "%S in %S has %s, not %s" (nth 1 row) (nth 0 row) face (nth 2 row)))))

(let ((lines '("step t {" "    match x {" "        Red => {" "            stop" "        }" "        -1 => x = 1,"
               "    }" "    let y = a" "        + b" "    // A note with { in it." "    let r = [" "        1.0" "    ]"
               "}" "output x" "")))
  (with-temp-buffer
    (sim-mode)
    (insert (mapconcat #'string-trim lines "\n"))
    (indent-region (point-min) (point-max))
    (unless (equal (buffer-string) (mapconcat #'identity lines "\n"))
      (complain "rebuilt as %S" (buffer-string)))))

(when (require 'compile nil t)
  (with-temp-buffer
    (let ((pattern (nth 1 (assq 'simc compilation-error-regexp-alist-alist))))
      (unless (string-match pattern "   ╭─[ some/model.sim:2:22 ]")
        (complain "mistakes are not found")))))

(let ((copy (expand-file-name "sim-mode.el" (make-temp-file "sim" t)))
      (byte-compile-error-on-warn t))
  (copy-file "editors/emacs/sim-mode.el" copy)
  (unless (byte-compile-file copy)
    (complain "the compiler complains")))

(when (< faces 10000)
  (complain "only %d faces" faces))
(dolist (text (reverse wrong))
  (message "%s" text))
(message "%d faces looked at, %d complaints" faces (length wrong))
(kill-emacs (if wrong 1 0))

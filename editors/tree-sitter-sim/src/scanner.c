/* Block comments, which may stand inside of one another. */

#include "tree_sitter/parser.h"

enum TokenType { BLOCK_COMMENT };

void *tree_sitter_sim_external_scanner_create(void) { return NULL; }

void tree_sitter_sim_external_scanner_destroy(void *payload) { (void)payload; }

unsigned tree_sitter_sim_external_scanner_serialize(void *payload, char *buffer) {
  (void)payload;
  (void)buffer;
  return 0;
}

void tree_sitter_sim_external_scanner_deserialize(void *payload, const char *buffer, unsigned length) {
  (void)payload;
  (void)buffer;
  (void)length;
}

static bool is_space(int32_t c) { return c == ' ' || (c >= '\t' && c <= '\r') || c == 0xFEFF; }

bool tree_sitter_sim_external_scanner_scan(void *payload, TSLexer *lexer, const bool *valid_symbols) {
  (void)payload;
  if (!valid_symbols[BLOCK_COMMENT]) return false;
  while (is_space(lexer->lookahead)) lexer->advance(lexer, true);
  if (lexer->lookahead != '/') return false;
  lexer->advance(lexer, false);
  if (lexer->lookahead != '*') return false;
  lexer->advance(lexer, false);
  unsigned open = 1;
  while (open > 0) {
    if (lexer->eof(lexer)) return false;
    int32_t found = lexer->lookahead;
    lexer->advance(lexer, false);
    if (found == '/' && lexer->lookahead == '*') {
      lexer->advance(lexer, false);
      open++;
    } else if (found == '*' && lexer->lookahead == '/') {
      lexer->advance(lexer, false);
      open--;
    }
  }
  lexer->mark_end(lexer);
  lexer->result_symbol = BLOCK_COMMENT;
  return true;
}

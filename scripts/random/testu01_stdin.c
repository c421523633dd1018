/* Runs a battery of TestU01 over raw little-endian 32-bit words from standard
 * input, and prints its report. TestU01 itself is no part of this project.
 *
 *   cc -O2 -I$TESTU01/include -o testu01_stdin testu01_stdin.c \
 *      -L$TESTU01/lib -ltestu01 -lprobdist -lmylib -lm
 *   random_stream agents | ./testu01_stdin small|crush|big
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bbattery.h"
#include "swrite.h"
#include "unif01.h"

enum { WORDS = 1 << 16 };

static unsigned int words[WORDS];
static size_t taken = WORDS;

static unsigned int next_word(void) {
    if (taken == WORDS) {
        if (fread(words, sizeof words[0], WORDS, stdin) != WORDS) {
            fprintf(stderr, "testu01_stdin: the input ended before the battery did\n");
            exit(2);
        }
        taken = 0;
    }
    return words[taken++];
}

int main(int argc, char **argv) {
    const char *battery = argc == 2 ? argv[1] : "";
    char name[] = "standard input";
    unif01_Gen *generator = unif01_CreateExternGenBits(name, next_word);
    swrite_Basic = FALSE;
    if (strcmp(battery, "small") == 0) {
        bbattery_SmallCrush(generator);
    } else if (strcmp(battery, "crush") == 0) {
        bbattery_Crush(generator);
    } else if (strcmp(battery, "big") == 0) {
        bbattery_BigCrush(generator);
    } else {
        fprintf(stderr, "usage: testu01_stdin small|crush|big\n");
        return 2;
    }
    unif01_DeleteExternGenBits(generator);
    return 0;
}

/* A program that uses all of fuser.h; prints "ok" where all is as it should be. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuser.h"

#define CHECK(condition)                                              \
  do {                                                                \
    if (!(condition)) {                                               \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      exit(1);                                                        \
    }                                                                 \
  } while (0)

static const char *TEXT =
    "task.program @center(%x: tensor<[A]x[B]xf32>) -> (tensor<[A]x[B]xf32>, tensor<[A]xf32>) {\n"
    "  %m = fusion.mean %x dims [1]\n"
    "  %b = fusion.broadcast %m dims [0] shape [[A], [B]]\n"
    "  %y = fusion.sub %x, %b\n"
    "  task.return %y, %m\n"
    "}";

static void fine(FuserError *error) {
  if (error) {
    fprintf(stderr, "%s\n", fuser_error_text(error));
    exit(1);
  }
}

/* An error is expected, with this code and this word in its text. */
static void refused(FuserError *error, const char *code, const char *word) {
  CHECK(error);
  if (strcmp(fuser_error_code(error), code) != 0 || !strstr(fuser_error_text(error), word)) {
    fprintf(stderr, "not %s, %s: %s\n", code, word, fuser_error_text(error));
    exit(1);
  }
  CHECK(fuser_error_message(error)[0]);
  fuser_error_free(error);
}

static void run(const FuserCompiled *compiled, int64_t rows, int64_t columns) {
  int64_t shape[2];
  shape[0] = rows, shape[1] = columns;
  FuserTensor x = {"f32", 2, shape, 0, 0};
  FuserCall *call = NULL;
  fine(fuser_compiled_bind(compiled, &x, 1, &call));
  FuserTensor y, m, none;
  fine(fuser_call_result(call, 0, &y));
  fine(fuser_call_result(call, 1, &m));
  refused(fuser_call_result(call, 2, &none), "FIR1001", "no result 2");
  CHECK(y.rank == 2 && y.shape[0] == rows && y.shape[1] == columns && !strcmp(y.dtype, "f32"));
  CHECK(m.rank == 1 && m.shape[0] == rows && m.bytes == 4 * (size_t)rows && m.align <= 64);

  size_t room = (4 * (size_t)(rows * columns) / 64 + 1) * 64;
  char *memory = malloc(3 * room + 64);
  char *aligned = memory + (64 - (size_t)memory % 64) % 64;
  float *in = (float *)aligned, *out = (float *)(aligned + room), *mean = (float *)(aligned + 2 * room);
  for (int64_t i = 0; i < rows * columns; i++) in[i] = (float)(i % 7);
  const void *inputs[1] = {in};
  void *results[2] = {out, mean};
  for (int turn = 0; turn < 3; turn++) fine(fuser_call_run(call, inputs, 1, results, 2));
  for (int64_t r = 0; r < rows; r++) {
    double sum = 0;
    for (int64_t c = 0; c < columns; c++) sum += in[r * columns + c];
    double off = mean[r] - sum / (double)columns;
    CHECK(off < 1e-5 && off > -1e-5);
    CHECK(out[r * columns] == in[r * columns] - mean[r]);
  }

  refused(fuser_call_run(call, inputs, 0, results, 2), "FIR1001", "input");
  refused(fuser_call_run(call, inputs, 1, results, 1), "FIR1001", "output");
  refused(fuser_call_run(call, NULL, 1, results, 2), "FIR1001", "null");
  refused(fuser_call_run(NULL, inputs, 1, results, 2), "FIR1001", "null");
  const void *missing[1] = {NULL}, *odd[1] = {(char *)in + 1};
  refused(fuser_call_run(call, missing, 1, results, 2), "FIR1001", "");
  refused(fuser_call_run(call, odd, 1, results, 2), "FIR1001", "");
  free(memory);
  fuser_call_free(call);
}

int main(void) {
  CHECK(fuser_interface() == FUSER_INTERFACE);
  CHECK(strchr(fuser_version(), '.'));

  FuserProgram *program = NULL;
  refused(fuser_program_parse("task.program @f(", 16, &program), "FIR0101", "program.fir:1");
  CHECK(!program);
  refused(fuser_program_parse("\xff\xfe", 2, &program), "FIR1001", "UTF-8");
  refused(fuser_program_parse(NULL, 3, &program), "FIR1001", "null");
  refused(fuser_program_parse(TEXT, strlen(TEXT), NULL), "FIR1001", "null");
  fine(fuser_program_parse(TEXT, strlen(TEXT), &program));
  CHECK(fuser_program_inputs(program) == 1 && fuser_program_results(program) == 2);
  CHECK(!strcmp(fuser_program_input_name(program, 0), "x") && !strcmp(fuser_program_result_name(program, 1), "m"));
  CHECK(!fuser_program_input_name(program, 1) && !fuser_program_result_name(program, 2));

  FuserCompiled *compiled = NULL;
  FuserOptions options = {sizeof(FuserOptions), "abacus", NULL, 0};
  refused(fuser_program_compile(program, &options, &compiled), "FIR0851", "abacus");
  options.struct_size = 4;
  refused(fuser_program_compile(program, &options, &compiled), "FIR1001", "struct_size");
  refused(fuser_program_compile(NULL, NULL, &compiled), "FIR1001", "null");
  CHECK(!compiled);
  fine(fuser_program_compile(program, NULL, &compiled));
  fuser_program_free(program);
  run(compiled, 3, 5);
  run(compiled, 64, 1000);
  run(compiled, 1, 1);

  int64_t shape[2] = {3, -1};
  FuserTensor x = {"f32", 2, shape, 0, 0};
  FuserCall *call = NULL;
  refused(fuser_compiled_bind(compiled, &x, 1, &call), "FIR1001", "negative");
  shape[1] = 5, x.dtype = "f33";
  refused(fuser_compiled_bind(compiled, &x, 1, &call), "FIR1001", "f33");
  x.dtype = "f64";
  refused(fuser_compiled_bind(compiled, &x, 1, &call), "FIR1001", "f64");
  x.dtype = NULL;
  refused(fuser_compiled_bind(compiled, &x, 1, &call), "FIR1001", "null");
  x.dtype = "f32", x.rank = 1;
  refused(fuser_compiled_bind(compiled, &x, 1, &call), "FIR1001", "x");
  refused(fuser_compiled_bind(compiled, &x, 0, &call), "FIR1001", "0 inputs");
  refused(fuser_compiled_bind(NULL, &x, 1, &call), "FIR1001", "null");
  CHECK(!call);
  fuser_compiled_free(compiled);

  /* All of these are free to be null. */
  fuser_error_free(NULL), fuser_program_free(NULL), fuser_compiled_free(NULL), fuser_call_free(NULL);
  CHECK(!fuser_error_code(NULL) && !fuser_error_text(NULL) && !fuser_program_inputs(NULL));

  /* Without a cache, and with threads of one's own. */
  FuserOptions alone = {sizeof(FuserOptions), "cpu", "", 1};
  fine(fuser_program_parse(TEXT, strlen(TEXT), &program));
  fine(fuser_program_compile(program, &alone, &compiled));
  fuser_program_free(program);
  run(compiled, 2, 3);
  fuser_compiled_free(compiled);
  refused(fuser_program_import_stablehlo("module {", 8, &program), "FIR1101", "program.mlir");
  puts("ok");
  return 0;
}

/* The command `spikemill`: a table of subcommands. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "command.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <spikemill/plugin.h>
#include "output.h"
#include "text.h"

static const struct command {
  const char *name;
  int (*run)(int argc, char **argv);
  const char *summary;
} commands[] = {
    {"run", mill_cmd_run, "simulate a network"},
    {"mine", mill_cmd_mine, "find the frequent episodes of a recording"},
    {"compare", mill_cmd_compare, "run variants side by side, compare times and results"},
    {"convert", mill_cmd_convert, "copy spikes from one format into another"},
    {"generate", mill_cmd_generate, "make a synthetic stream with known truth"},
    {"check", mill_cmd_check, "validate a network file and say what would run"},
    {"info", mill_cmd_info, "list plugins, their parameters, and devices"},
    {"new", mill_cmd_new, "write the skeleton of a plugin"},
};
#define COUNT (sizeof commands / sizeof *commands)

static void usage(FILE *out)
{
  fputs("usage: spikemill COMMAND …\n\nSimulates spiking neural networks and mines spike trains, every algorithm a plugin.\n\ncommands:\n", out);
  for (size_t i = 0; i < COUNT; i++)
    fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].summary);
  fputs("\nspikemill COMMAND --help tells more; spikemill --version prints the version.\n", out);
}

static int finish(int status)
{
  mill_output_forget_all();
  if (fflush(stdout) != 0 && status == MILL_OK) {
    fputs("spikemill: standard output: cannot write\n", stderr);
    status = MILL_RESOURCES;
  }
  return status;
}

/* A standard stream that is closed would be given to the first file that is opened, and messages would go into it. */
static int hold_standard_streams(void)
{
  for (int fd = 0; fd < 3; fd++) {
    if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) != fd)
      return -1;
  }
  return 0;
}

int main(int argc, char **argv)
{
  const char *names[COUNT];
  const char *near;
  if (hold_standard_streams() < 0)
    return MILL_RESOURCES;
  signal(SIGXFSZ, SIG_IGN); /* a write that fails is reported, not fatal */
  if (argc < 2) {
    usage(stderr);
    return MILL_USAGE;
  }
  if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
    usage(stdout);
    return finish(MILL_OK);
  }
  if (strcmp(argv[1], "--version") == 0) {
    printf("spikemill %s (plugin ABI %d.%d)\n", mill_version(), MILL_ABI_MAJOR, MILL_ABI_MINOR);
    return finish(MILL_OK);
  }
  for (size_t i = 0; i < COUNT; i++) {
    if (strcmp(argv[1], commands[i].name) == 0)
      return finish(commands[i].run(argc - 1, argv + 1));
    names[i] = commands[i].name;
  }
  near = mill_text_nearest(argv[1], names, COUNT);
  fprintf(stderr, "spikemill: unknown command `%s`", argv[1]);
  if (near)
    fprintf(stderr, "; did you mean `%s`?\n", near);
  else
    fputs("; spikemill --help lists those there are\n", stderr);
  return MILL_USAGE;
}

/* A locale with a decimal comma, for tests that numbers do not depend on it. It is made in a temporary folder when the system has
   none. */
#ifndef GERMAN_H
#define GERMAN_H

#include <dirent.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char german_folder[64];

/* 1 when the process is in the locale now, 0 when it cannot be had. */
static int german_set(void)
{
  char command[256];

  if (setlocale(LC_ALL, "de_DE.UTF-8") == NULL) {
    strcpy(german_folder, "/tmp/mill-locale-XXXXXX");
    if (mkdtemp(german_folder) == NULL) {
      german_folder[0] = '\0';
      return 0;
    }
    snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 >/dev/null 2>&1", german_folder);
    if (system(command) != 0 || setenv("LOCPATH", german_folder, 1) != 0 || setlocale(LC_ALL, "de_DE.UTF-8") == NULL)
      return 0;
  }
  return strcmp(localeconv()->decimal_point, ",") == 0;
}

static void german_folder_remove(const char *folder)
{
  char path[512];
  struct dirent *item;
  DIR *d = opendir(folder);

  while (d != NULL && (item = readdir(d)) != NULL) {
    snprintf(path, sizeof path, "%s/%s", folder, item->d_name);
    if (strcmp(item->d_name, ".") != 0 && strcmp(item->d_name, "..") != 0 && unlink(path) != 0)
      german_folder_remove(path);
  }
  if (d != NULL)
    closedir(d);
  rmdir(folder);
}

/* Back to the C locale, and what was made is removed. */
static void german_end(void)
{
  setlocale(LC_ALL, "C");
  if (german_folder[0] != '\0')
    german_folder_remove(german_folder);
  german_folder[0] = '\0';
}

#endif

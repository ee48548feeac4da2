# Reads the compile_commands.json of CMake. Prints a line for every unit, its fields separated by tabs:
#   its object, its file, the lines of the sources it stands for, its compile command,
#   and with -v closure=1 its file again and every file of the project it includes, directly or not.
# -v root=FOLDER names the project. A unit in its build folder is generated: it stands for the sources it includes.

# Reads a file once: count[file] is its number of lines, -1 when there is no such file.
function scan(file,    line, name, status) {
  if (file in count) return count[file] >= 0
  count[file] = 0
  while ((status = (getline line < file)) > 0) {
    count[file]++
    if (line ~ /^[ \t]*#[ \t]*include[ \t]*["<]/ || line ~ /^[ \t]*#[ \t]*define[ \t]+HWY_TARGET_INCLUDE[ \t]+"/) {
      name = line
      sub(/^[^"<]*["<]/, "", name)
      sub(/[">].*$/, "", name)
      include[file, ++includes[file]] = name
    }
  }
  if (status < 0) count[file] = -1; else close(file)
  return count[file] >= 0
}

function folder_of(path) { sub(/\/[^\/]*$/, "", path); return path }

function tidied(path) {
  gsub(/\/\.\//, "/", path)
  while (match(path, /\/[^\/]+\/\.\.\//)) path = substr(path, 1, RSTART) substr(path, RSTART + RLENGTH)
  return path
}

# The file of the project that an include means; "" for one of the system.
function resolve(name, folder, search,    key, i, n, folders, path) {
  key = name SUBSEP folder SUBSEP search
  if (key in resolved) return resolved[key]
  if (name ~ /^\//) n = split("", folders); else n = split(folder "\t" search, folders, "\t")
  resolved[key] = ""
  if (n == 0 && index(name, root "/") == 1 && scan(name)) resolved[key] = name
  for (i = 1; i <= n; i++) {
    path = tidied(folders[i] "/" name)
    if (index(path, root "/") == 1 && scan(path)) { resolved[key] = path; break }
  }
  return resolved[key]
}

function unit(file, command,    search, words, n, i, object, lines, list, total, seen, path, from, all) {
  object = match(command, / -o [^ ]+/) ? substr(command, RSTART + 4, RLENGTH - 4) : file
  n = split(command, words, " ")
  for (i = 1; i <= n; i++)
    if (words[i] ~ /^-I./) search = search substr(words[i], 3) "\t"
  search = search root
  split("", seen)
  list[total = 1] = file
  seen[file] = 1
  for (i = 1; i < n; i++)
    if (words[i] == "-include" && scan(words[i + 1])) { list[++total] = words[i + 1]; seen[words[i + 1]] = 1 }
  scan(file)
  lines = count[file]
  if (index(file, root "/build/") == 1) {
    lines = 0
    for (i = 1; i <= includes[file]; i++) {
      path = resolve(include[file, i], folder_of(file), search)
      if (path != "") lines += count[path]
    }
  }
  if (closure)
    for (from = 1; from <= total; from++)
      for (i = 1; i <= includes[list[from]]; i++) {
        path = resolve(include[list[from], i], folder_of(list[from]), search)
        if (path != "" && !(path in seen)) { seen[path] = 1; list[++total] = path }
      }
  for (i = 1; i <= total; i++) all = all (i > 1 ? "\t" : "") list[i]
  printf "%s\t%s\t%d\t%s%s\n", object, file, lines, command, closure ? "\t" all : ""
}

/^ *"command": "/ { command = $0; sub(/^ *"command": "/, "", command); sub(/",?$/, "", command) }
/^ *"file": "/ { file = $0; sub(/^ *"file": "/, "", file); sub(/",?$/, "", file) }
/^}/ { unit(file, command) }

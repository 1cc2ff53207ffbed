// A command line as a shell splits it: words, quotes and backslashes, nothing else.

export function words(line: string): string[] {
  const found: string[] = [];
  const pattern = /(?:[^\s"'\\]|\\.|"(?:[^"\\]|\\.)*"|'[^']*')+/gs;
  for (const [word] of line.matchAll(pattern)) {
    found.push(
      word.replace(
        /\\(.)|"((?:[^"\\]|\\.)*)"|'([^']*)'/gs,
        (_, escaped, double, single) => escaped ?? single ?? double.replace(/\\(["\\$`])/g, "$1"),
      ),
    );
  }
  return found;
}

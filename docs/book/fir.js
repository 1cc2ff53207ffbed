// Colours for `.fir` in the book: comments, values, symbols, ops, types. mdBook has run before and left these blocks plain.
hljs.registerLanguage("fir", () => ({
  name: "fir",
  contains: [
    { className: "comment", begin: /\/\//, end: /$/ },
    { className: "string", begin: /"/, end: /"/ },
    { className: "variable", begin: /%[A-Za-z0-9_.$-]+/ },
    { className: "title", begin: /@[A-Za-z0-9_.$-]+/ },
    { className: "keyword", begin: /\b(builtin|fusion|task|kernel)\.\w+|\bmodule\b/ },
    { className: "type", begin: /\b(tensor<[^>]*>|b?f(8|16|32|64)\w*|[iu]\d+|c(64|128))/ },
    { className: "number", begin: /-?\b\d[\d_]*(\.\d+)?(e[-+]?\d+)?\b/ },
  ],
}));
for (const block of document.querySelectorAll("code.language-fir")) {
  block.classList.remove("hljs");
  delete block.dataset.highlighted;
  hljs.highlightBlock(block);
  block.classList.add("hljs");
}

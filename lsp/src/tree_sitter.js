// Written from the op tables: FUSER_UPDATE=1 cargo test -p fuser-lsp --test main
//
// Wider than the language: any clause stands behind any op. What is wrong in a text, fuser-lsp tells.

const comma1 = rule => seq(rule, repeat(seq(',', rule)));
const comma = rule => optional(comma1(rule));
// `<...>` with as many inside each other; a token cannot count.
const angles = depth => `<([^<>"]|->|"([^"\\\\]|\\\\.)*"${depth ? `|${angles(depth - 1)}` : ''})*>`;

module.exports = grammar({
  name: 'fuser',
  extras: $ => [/[ \t\r\n]/, $.comment],
  word: $ => $.identifier,
  conflicts: $ => [[$.dictionary, $.region], [$.generic_name, $.entry]],
  rules: {
    source_file: $ => repeat($._statement),
    comment: _ => token(seq('//', /[^\n]*/)),

    _statement: $ => choice($.operation, $.label, $.alias, $.resources),
    alias: $ => choice(
      seq(field('name', $.attribute_alias), '=', $._attribute),
      seq(field('name', $.type_alias), '=', $._type),
    ),
    label: $ => seq($.block, optional(seq('(', comma($.parameter), ')')), ':'),
    resources: _ => token(seq('{-#', /([^#]|#[^-]|#-[^}])*/, '#-}')),

    operation: $ => prec.right(seq(
      optional(seq(field('results', $.results), '=')),
      field('name', choice($.op_name, $.generic_name)),
      optional(field('symbol', $.symbol)),
      optional(choice($.signature, $.arguments)),
      optional($.operands),
      optional($.list),
      repeat($._part),
      optional(seq(':', comma1($._type))),
      optional($.location),
    )),
    results: $ => comma1(seq($.value, optional(seq(':', $.number)))),
    generic_name: $ => $.string,
    signature: $ => prec(1, seq(
      '(', comma1($.parameter), ')',
      optional(seq('->', $._results_of_signature)),
    )),
    _results_of_signature: $ => choice($._plain_type, seq('(', comma(seq($._type, optional($.dictionary))), ')')),
    parameter: $ => seq($.value, ':', $._type, optional($.dictionary), optional($.location)),
    arguments: $ => prec.right(seq('(', comma($.value), ')', optional(seq('->', $._results_of_signature)))),
    operands: $ => comma1($.value),
    _part: $ => choice($.clause, $.dictionary, $.region, $.properties, seq('(', comma1($.region), ')')),
    clause: $ => prec.right(seq(
      field('word', alias($.identifier, $.word)),
      optional(choice(
        $.number, $.string, $.list, $.symbol_reference, $.attribute_alias, $.element_type, $.shaped, $.type_alias,
      )),
    )),
    properties: $ => seq('<', $.dictionary, '>'),
    region: $ => prec.dynamic(1, seq('{', repeat($._statement), '}')),
    dictionary: $ => seq('{', comma($.entry), '}'),
    entry: $ => seq(field('key', choice($.identifier, $.string)), optional(seq('=', $._attribute))),

    _attribute: $ => choice(
      seq($.number, optional(seq(':', $._type))),
      seq($.shaped, optional(seq(':', $._type))),
      $.string, $.list, $.dictionary, $.symbol_reference, $.attribute_alias, $.location,
      $.identifier, $.element_type, $.type_alias, $.function_type, $.distinct,
    ),
    list: $ => seq('[', comma($._item), ']'),
    _item: $ => choice($._attribute, $.value, $.successor, '?', $.identifier_expression, $.extent),
    distinct: $ => seq('distinct', $.list, '<', optional($._attribute), '>'),
    extent: $ => seq($.identifier, $.list),
    identifier_expression: $ => prec.left(seq(
      choice($.identifier, $.number), repeat1(seq(choice('*', '+', '-'), choice($.identifier, $.number))),
    )),
    successor: $ => seq($.block, optional(seq('(', comma($.value), optional(seq(':', comma1($._type))), ')'))),

    _type: $ => choice($._plain_type, $.function_type),
    _plain_type: $ => choice($.element_type, $.shaped, $.type_alias, $.identifier),
    function_type: $ => prec.right(seq(
      '(', comma($._type), ')', '->', choice($._plain_type, seq('(', comma($._type), ')')),
    )),
    shaped: _ => token(new RegExp(`[a-zA-Z_]+${angles(7)}`)),
    element_type: _ => choice(
      // ELEMENT TYPES
    ),

    location: $ => seq('loc', '(', $._place, ')'),
    _place: $ => choice(
      $.identifier, $.attribute_alias,
      seq($.string, optional(choice(seq('(', $._place, ')'), seq(':', $.number, ':', $.number)))),
      seq($.identifier, '(', $._place, 'at', $._place, ')'),
      seq(choice($.identifier, $.shaped), '[', comma($._place), ']'),
    ),

    op_name: _ => choice(
      // OPS
    ),
    value: _ => /%([0-9]+|[a-zA-Z_$.-][a-zA-Z0-9_$.-]*)(#[0-9]+)?/,
    symbol: _ => /@([0-9]+|[a-zA-Z_$.-][a-zA-Z0-9_$.-]*|"[^"\n]*")/,
    symbol_reference: $ => seq($.symbol, repeat(seq('::', $.symbol))),
    block: _ => /\^([0-9]+|[a-zA-Z_$.-][a-zA-Z0-9_$.-]*)/,
    attribute_alias: _ => token(new RegExp(`#[a-zA-Z0-9_$.]+(${angles(7)})?`)),
    type_alias: _ => token(new RegExp(`![a-zA-Z_$][a-zA-Z0-9_$.]*(${angles(7)})?`)),
    number: _ => token(choice(/0x[0-9a-fA-F]+/, /-?[0-9]+(\.[0-9]*)?([eE][-+]?[0-9]+)?/, /-?(inf|nan)/)),
    string: _ => /"([^"\\\n]|\\.)*"/,
    identifier: _ => /[a-zA-Z_][a-zA-Z0-9_$]*(\.[a-zA-Z0-9_$]+)*/,
  },
});

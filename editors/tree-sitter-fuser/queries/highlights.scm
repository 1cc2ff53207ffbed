(comment) @comment
(string) @string
(number) @number
(op_name) @keyword
(generic_name (string) @keyword)
(value) @variable
(parameter (value) @variable.parameter)
(symbol) @function
(block) @label
(attribute_alias) @constant
(type_alias) @type
(element_type) @type
(shaped) @type
(clause word: (word) @property)
(entry key: (_) @property)
"loc" @function.builtin
((identifier) @constant.builtin (#any-of? @constant.builtin "false" "inf" "nan" "true" "unit"))

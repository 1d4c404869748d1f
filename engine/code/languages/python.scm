; Facts of a Python file; all of it runs in C. The first capture of a pattern names the event that python.py handles.

(class_definition name: (identifier) @name body: (block) @body) @class
(function_definition name: (identifier) @name parameters: (parameters) @parameters body: (block) @body) @def
(decorated_definition) @deco
(call function: (_) @call)
(assignment left: (_) @left right: (_) @right) @set
(assignment left: (_) @left !right) @set
(augmented_assignment left: (identifier) @lost)
(named_expression) @walrus
(for_statement) @for
[(list_comprehension) (set_comprehension) (dictionary_comprehension) (generator_expression)] @comp
(lambda) @lambda
(with_item (as_pattern) @with)
(except_clause (as_pattern) @except)
(import_statement) @import
(import_from_statement) @from
(return_statement) @return
(yield) @yield
[(raise_statement) (continue_statement) (break_statement)] @end
[(global_statement) (nonlocal_statement)] @global

; bodies that may not run: what they assign is joined with what was there before
(if_statement consequence: (block) @block)
(elif_clause consequence: (block) @block)
(else_clause (block) @block)
(for_statement body: (block) @block)
(while_statement body: (block) @block)
(try_statement body: (block) @block)
(except_clause (block) @block)
(case_clause consequence: (block) @block)

; what only type checkers see
(if_statement condition: [(identifier) (attribute)] @typing consequence: (block) @body)

; narrowing by isinstance
(if_statement condition: (call) @isa)
(elif_clause condition: (call) @isa)
(if_statement condition: (boolean_operator left: (call) @isa))

; names used as values
(argument_list [(identifier) (attribute)] @ref)
(keyword_argument value: [(identifier) (attribute)] @ref)
(list [(identifier) (attribute)] @ref)
(tuple [(identifier) (attribute)] @ref)
(set [(identifier) (attribute)] @ref)
(pair value: [(identifier) (attribute)] @ref)
(default_parameter value: [(identifier) (attribute)] @ref)
(assignment right: [(identifier) (attribute)] @ref)
(return_statement [(identifier) (attribute)] @ref)
(conditional_expression [(identifier) (attribute)] @ref)
(boolean_operator [(identifier) (attribute)] @ref)

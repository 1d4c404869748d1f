; Facts of a Rust file; all of it runs in C. The first capture of a pattern that has a handler names the event (declared.py, rust.py).

(mod_item name: (identifier) @name body: (declaration_list) @body) @module
(mod_item name: (identifier) @name !body) @import
(use_declaration) @import
(extern_crate_declaration) @import

(struct_item name: (type_identifier) @name) @class
(union_item name: (type_identifier) @name) @class
(enum_item name: (type_identifier) @name body: (enum_variant_list) @body) @class
(trait_item name: (type_identifier) @name body: (declaration_list) @body) @class
(impl_item body: (declaration_list)) @impl
(enum_variant name: (identifier) @name) @variant
(field_declaration name: (field_identifier) @name) @field
[(const_item name: (identifier) @name) (static_item name: (identifier) @name)] @const
(type_item name: (type_identifier) @name) @alias
(macro_definition name: (identifier) @name) @macrodef

(function_item name: (identifier) @name body: (block) @body) @function
(function_signature_item name: (identifier) @name) @function
(parameters (parameter) @param)
(closure_expression) @closure
(for_expression body: (block) @loop)
(if_expression consequence: (block) @then)
(while_expression body: (block) @then)
(match_arm) @arm
(else_clause (block) @block)
(loop_expression body: (block) @block)
(unsafe_block (block) @block)
(async_block (block) @block)
(expression_statement (block) @block)
(let_declaration value: (block) @block)
(let_declaration) @local

(call_expression) @call
(macro_invocation) @macro

; names used as values, and types
(arguments [(identifier) (scoped_identifier) (field_expression)] @ref)
(let_declaration value: [(identifier) (scoped_identifier)] @ref)
(assignment_expression right: [(identifier) (scoped_identifier)] @ref)
(field_initializer value: [(identifier) (scoped_identifier)] @ref)
(return_expression [(identifier) (scoped_identifier)] @ref)
(array_expression [(identifier) (scoped_identifier)] @ref)
(tuple_expression [(identifier) (scoped_identifier)] @ref)
(reference_expression value: [(identifier) (scoped_identifier)] @ref)
(block [(identifier) (scoped_identifier)] @ref .)
(match_arm value: [(identifier) (scoped_identifier)] @ref)
(type_identifier) @type
(scoped_type_identifier) @type

; Facts of a PHP file; all of it runs in C. The first capture of a pattern names the event that declared.py and php.py handle.

(namespace_definition name: (namespace_name)? @name body: (compound_statement)? @body) @space
(namespace_use_declaration) @import
[(require_expression) (require_once_expression) (include_expression) (include_once_expression)] @require

(class_declaration name: (name) @name body: (declaration_list) @body) @class
(interface_declaration name: (name) @name body: (declaration_list) @body) @class
(trait_declaration name: (name) @name body: (declaration_list) @body) @class
(enum_declaration name: (name) @name body: (enum_declaration_list) @body) @class
(anonymous_class body: (declaration_list) @body) @anonymous
(use_declaration) @traits

(function_definition name: (name) @name body: (compound_statement) @body) @function
(method_declaration name: (name) @name body: (compound_statement)? @body) @method
(anonymous_function body: (compound_statement) @body) @closure
(arrow_function body: (_) @body) @closure
(arrow_function body: (_) @arrow)
(property_hook) @block

(const_element . (name) @name) @const
(enum_case name: (name) @name) @case
(property_element name: (variable_name) @name) @field
(property_promotion_parameter name: (variable_name) @name) @promoted
(simple_parameter name: (variable_name) @name) @param
(variadic_parameter name: (variable_name) @name) @param

; what may not run: what it assigns is joined with what was there before
(if_statement body: (_) @branch)
(else_clause body: (_) @branch)
(else_if_clause body: (_) @branch)
(while_statement body: (_) @branch)
(for_statement body: (_) @branch)
(foreach_statement body: (_) @branch)
(do_statement body: (_) @branch)
(try_statement body: (_) @branch)
(case_statement) @branch
(default_statement) @branch
(catch_clause) @branch
[(throw_expression) (continue_statement) (break_statement)] @end

(assignment_expression) @local
(reference_assignment_expression) @local
(augmented_assignment_expression) @local
(static_variable_declaration) @local
(foreach_statement) @foreach
(catch_clause name: (variable_name) @name) @caught
(if_statement condition: (_) @narrowed)
(else_if_clause condition: (_) @narrowed)
(comment) @comment

(function_call_expression) @call
(member_call_expression) @call
(nullsafe_member_call_expression) @call
(scoped_call_expression) @call
(object_creation_expression) @call
(return_statement) @return
(yield_expression) @yield
(class_constant_access_expression) @ref
(array_creation_expression) @ref
(attribute) @ref

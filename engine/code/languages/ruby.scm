; Facts of a Ruby file; all of it runs in C. The first capture of a pattern names the event that declared.py and ruby.py handle.

(class name: (_) @name) @class
(module name: (_) @name) @class
(singleton_class) @meta
(method name: (_) @name) @method
(singleton_method name: (_) @name) @method
(alias) @alias
(assignment left: [(constant) (scope_resolution)] @name right: (_) @value) @constant

; what may not run: what it assigns is joined with what was there before
[(then) (else) (do) (when) (in_clause)] @branch
(if_modifier body: (_) @branch)
(unless_modifier body: (_) @branch)
(rescue) @branch
[(break) (next) (redo)] @end

[(do_block) (block) (lambda)] @block
(assignment) @local
(operator_assignment) @local
(exception_variable) @caught

(call) @call
(identifier) @bare
(super) @above
(return) @return

; constants, of which those used as values count
[(constant) (scope_resolution)] @ref

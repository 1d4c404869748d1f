; What JSX adds to a JavaScript or TypeScript file. One capture a pattern, named after the event javascript.py handles.
[(jsx_opening_element) (jsx_self_closing_element)] @jsx
(jsx_expression [(identifier) (member_expression)] @ref)

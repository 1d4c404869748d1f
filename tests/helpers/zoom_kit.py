"""Source files with every sort of definition, and outlines of bytes without a repository. Called by tests/retrieval/test_zoom_*.

What may not come in: assertions.
"""

from __future__ import annotations

from mog.engine.code import ingest
from mog.engine.code.languages_map import language_of
from mog.engine.model import Freshness
from mog.engine.retrieval.skeleton import Outline

PYTHON = '''"""Shapes.

All of them.
"""
import enum

LIMIT: int = 10; OTHER = 3
TABLE = {
    "a": 1,
}


class Color(enum.Enum):
    """Colours."""
    RED = 1
    GREEN, BLUE = 2, 3
    def pretty(self): return BODY


@dataclass(
    frozen=True,
    slots=True,
)
class Point(
    Generic[T],
    metaclass=type,
):
    # a note
    """A point.

    More of it.
    """

    x: int
    y: list[int] = field(
        default_factory=list,
    )
    if LIMIT:
        z: int = 0

    class Inner:
        q = 1
        def deep(self, a, b): BODY

    @overload
    async def get(self, a: int) -> int: ...
    @overload
    async def get(self, a: str) -> str:
        """Overload."""
    async def get(self, a, fn=lambda q: {q: 1}, *, data={"k": [1, 2]}) -> int | str:
        """Gets."""
        self.late = a
        def closure(): BODY
        return BODY

    @property
    def size(
        self,  # a note with ) in it
    ) -> int:
        r"""Raw \\d."""
        return BODY

    @size.setter
    def size(self, v): BODY

    @staticmethod
    @abstractmethod
    def make[U: (int, str)](u: U) -> "Point[U]": BODY
'''
TYPESCRIPT = '''/** Config of it.
 *
 * Longer.
 * @param x it
 */
@Component({
  selector: 'app',
})
export abstract class View<T extends object = {}>
  extends Base<T>
  implements A, B {
  static readonly MAX = 10;
  #secret = 1;
  @Output()
  change = new EventEmitter<{
    a: number;
  }>();
  [key: string]: unknown;
  constructor(
    private readonly store: Store,
    @Inject(TOKEN) public name2?: string,
  ) { BODY; }
  /** Overloads. */
  draw(a: number): void;
  draw(a: string): void;
  /** Draws any.
   *
   * Longer.
   */
  draw(a: any): void { BODY; }
  abstract paint(a: any): void;
  get total(): number { return BODY; }
  set total(v) { BODY; }
  async *gen(): AsyncGenerator<number> { yield BODY; }
  arrow = async (
    q: number,
  ): Promise<void> => { await BODY; };
  handler = debounce(() => { x(); }, 100);
  [Symbol.iterator]() { return BODY; }
}
export interface Drawable<T> extends A, B {
  /** the width */
  readonly width?: number;
  draw(a: string): void;
  new (x: number): Drawable<T>;
  (call: string): void;
  [index: number]: string;
  nested: {
    deep: string;
  };
}
export enum Kind {
  A = 1,
  B = "b",
  C,
}
export type Shape<T> =
  | { kind: 'a'; value: T }
  | { kind: 'b' };
export function open(a: number): void;
export function open(
  a: any,
  b?: string,
): void { BODY; }
export const make = <T,>(x: T, opts: { a: number } = { a: 1 }): T => { BODY };
const handlers = {
  run(a) { return BODY; },
};
namespace NS { export class K { m(): void { BODY } } export const v = 1; }
'''
TSX = '''/** Draws. */
export function Cart({ items, onClose }: { items: Item[]; onClose: () => void }): JSX.Element {
  return <div>{BODY}</div>;
}
export const Memo = React.memo(function Memo(props: P) { return <a>{BODY}</a>; });
class C extends React.Component<Props, State> {
  state = { a: 1 };
  render() { return <a>{BODY}</a>; }
}
'''
JAVASCRIPT = '''/**
 * Old style.
 */
function Old(a, b = {x: 1}) { this.a = BODY; }
Old.prototype.go = function (q) { return BODY; };
class New extends Old {
  static x = 1;
  #p() { return BODY; }
  get v() { return BODY; }
  static async *s(a, ...rest) { yield BODY; }
  constructor({ a, b } = {}) { super(a); this.field = BODY; }
}
exports.helper = function helper(a) { return BODY; };
'''
SOURCES = {"a.py": PYTHON, "b.ts": TYPESCRIPT, "c.tsx": TSX, "d.js": JAVASCRIPT}


def outline(path: str, data: bytes) -> Outline:
    """The outline of bytes as if they were a file of the index."""
    language = language_of(path, data[:200])
    facts = ingest.facts_of(language, data, path, (), anchored=False)
    return Outline(path, language, data, list(facts["syms"]), Freshness.fresh)

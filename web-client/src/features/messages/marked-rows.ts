import type { LoggedMessage, PlacedMark } from '../../engine/types.ts';
import type { MessageList } from './message-list.ts';

export type TableRow =
  | { readonly type: 'message'; readonly message: LoggedMessage }
  | { readonly type: 'mark'; readonly placed: PlacedMark };

/** The rows of the table, newest first: the messages of a list, and the gaps between them. */
export class MarkedRows {
  readonly #list: MessageList;
  /** Newest first, each with its row, ascending. */
  readonly #marks: readonly { readonly row: number; readonly placed: PlacedMark }[];

  constructor(list: MessageList) {
    this.#list = list;
    this.#marks = list.marks
      .toReversed()
      .map((placed, index) => ({ row: list.countFrom(placed.sequence) + index, placed }));
  }

  get size(): number {
    return this.#list.size + this.#marks.length;
  }

  at(row: number): TableRow | undefined {
    const before = this.#marks.findIndex((mark) => mark.row >= row);
    const mark = this.#marks[before];
    if (mark?.row === row) return { type: 'mark', placed: mark.placed };
    const message = this.#list.at(row - (before < 0 ? this.#marks.length : before));
    return message && { type: 'message', message };
  }

  /** @param index of a message in the list */
  rowOf(index: number): number {
    let row = index;
    for (const mark of this.#marks) if (mark.row <= row) row += 1;
    return row;
  }
}

/**
 * Counts the users of something, and ends it one turn of the event loop after the last user has let go. React removes a
 * component and puts it back within one turn: in StrictMode, at a fast refresh, and when one page replaces another.
 */
export class Holders {
  readonly #end: () => void;
  #count = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(end: () => void) {
    this.#end = end;
  }

  get isHeld(): boolean {
    return this.#count > 0;
  }

  /** @returns a function that lets go; a second call does nothing */
  hold(): () => void {
    clearTimeout(this.#timer);
    this.#count += 1;
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#count -= 1;
      if (this.#count === 0) this.#timer = setTimeout(this.#end);
    };
  }
}

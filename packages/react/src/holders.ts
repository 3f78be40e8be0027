/**
 * Counts those that use something, and ends it when the last one has let go for a turn of the event loop. React takes a
 * component away and puts it back within one turn: in StrictMode, at a fast refresh, and where a page replaces another one.
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

  /** @returns lets go; a second call does nothing */
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

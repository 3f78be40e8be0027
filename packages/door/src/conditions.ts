import type { Conditions, Message } from '@apus/broker';
import type { CelConditions } from '@apus/filters';

/** Conditions of subscriptions. The extension that evaluates them is loaded with the first. */
export class LoadedConditions implements Conditions {
  #loaded: CelConditions | undefined;

  get isLoaded(): boolean {
    return this.#loaded !== undefined;
  }

  /** To be called before sessions come from elsewhere that have conditions. */
  async load(): Promise<void> {
    if (this.#loaded !== undefined) return;
    const { CelConditions: Loaded } = await import('@apus/filters');
    this.#loaded ??= new Loaded();
  }

  check(where: string): string | undefined | Promise<string | undefined> {
    return this.#loaded === undefined ? this.#loadAndCheck(where) : this.#loaded.check(where);
  }

  fits(where: string, message: Message): boolean {
    if (this.#loaded === undefined) throw new Error('the extension for conditions has not been loaded');
    return this.#loaded.fits(where, message);
  }

  get spent(): number {
    return this.#loaded?.spent ?? 0;
  }

  async #loadAndCheck(where: string): Promise<string | undefined> {
    await this.load();
    return this.#loaded?.check(where);
  }
}

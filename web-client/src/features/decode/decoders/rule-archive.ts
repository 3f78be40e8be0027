import { newId } from '../../../engine/new-profile.ts';
import { database } from '../../../state/database.ts';
import { replaceRules, useDecoders } from './registry.ts';
import type { DecoderRule } from './rules.ts';

export async function addRule(rule: Omit<DecoderRule, 'id'>): Promise<void> {
  const added = { id: newId(), ...rule };
  replaceRules([...useDecoders.getState().rules, added]);
  await quietly(() => database.decoders.put({ ...added, atMs: Date.now() }));
}

export async function removeRule(id: string): Promise<void> {
  replaceRules(useDecoders.getState().rules.filter((rule) => rule.id !== id));
  await quietly(() => database.decoders.delete(id));
}

/** A browser without storage, as in a private window, keeps decoders until the page is closed. */
async function quietly(work: () => PromiseLike<unknown>): Promise<void> {
  try {
    await work();
  } catch {
    // There the browser refuses storage; nothing else depends on it.
  }
}

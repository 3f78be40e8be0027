import { newId } from '../../../engine/new-profile.ts';
import { database } from '../../../state/database.ts';
import { tryStorage } from '../../../state/storage.ts';
import { replaceRules, useDecoders } from './registry.ts';
import type { DecoderRule } from './rules.ts';

export async function addRule(rule: Omit<DecoderRule, 'id'>): Promise<void> {
  const added = { id: newId(), ...rule };
  replaceRules([...useDecoders.getState().rules, added]);
  await tryStorage(async () => (await database()).put('decoders', { ...added, atMs: Date.now() }));
}

export async function removeRule(id: string): Promise<void> {
  replaceRules(useDecoders.getState().rules.filter((rule) => rule.id !== id));
  await tryStorage(async () => (await database()).delete('decoders', id));
}

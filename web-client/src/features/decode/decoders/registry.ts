import { matches } from '@apus/mqtt/topic';
import { create } from 'zustand';
import { database } from '../../../state/database.ts';
import type { DecoderRule, PayloadDecoder } from './rules.ts';

/** A rule's decoder, if it is loaded. */
export type LoadedDecoder =
  | { readonly state: 'loading' }
  | { readonly state: 'ready'; readonly decode: PayloadDecoder }
  | { readonly state: 'failed'; readonly problem: string };

interface DecodersState {
  /** The user's rules, in the order in which they are tried. */
  readonly rules: readonly DecoderRule[];
  /** By the rule's id; a rule whose topics have not been shown is missing. */
  readonly loaded: ReadonlyMap<string, LoadedDecoder>;
}

export const useDecoders = create<DecodersState>(() => ({ rules: [], loaded: new Map() }));

/** Topics whose rule is cached; above it all are looked up again. */
const TOPICS_MAX = 20_000;

const ruleOfTopic = new Map<string, DecoderRule | undefined>();

export function replaceRules(rules: readonly DecoderRule[]): void {
  ruleOfTopic.clear();
  const before = useDecoders.getState();
  const kept = [...before.loaded].filter(([id]) =>
    rules.some((rule) => rule.id === id && before.rules.includes(rule)),
  );
  useDecoders.setState({ rules, loaded: new Map(kept) });
}

/** The first matching rule; undefined if the format has to be detected. */
export function ruleFor(topic: string): DecoderRule | undefined {
  if (ruleOfTopic.has(topic)) return ruleOfTopic.get(topic);
  const { rules } = useDecoders.getState();
  const found = rules.find(({ filter }) => matches(filter, topic));
  if (ruleOfTopic.size >= TOPICS_MAX) ruleOfTopic.clear();
  ruleOfTopic.set(topic, found);
  return found;
}

/** Loads a rule's decoder, if it is neither loaded nor being loaded. */
export function load(rule: DecoderRule): void {
  if (useDecoders.getState().loaded.has(rule.id)) return;
  note(rule, { state: 'loading' });
  void import('./protobuf.ts')
    .then(({ protobufDecoder }) => protobufDecoder(rule.schemas, rule.messageType))
    .then(
      (decode) => note(rule, { state: 'ready', decode }),
      (error: Error) => note(rule, { state: 'failed', problem: error.message }),
    );
}

/** The decoder of a topic's payloads, if there is one and it is loaded; otherwise it is loaded for the next time. */
export function readyDecoder(topic: string): PayloadDecoder | undefined {
  const rule = ruleFor(topic);
  if (rule === undefined) return undefined;
  const loaded = useDecoders.getState().loaded.get(rule.id);
  // Deferred: a component may be rendering, and must not change the state of others.
  if (loaded === undefined) queueMicrotask(() => load(rule));
  return loaded?.state === 'ready' ? loaded.decode : undefined;
}

/** Nothing if the rule has been deleted meanwhile. */
function note(rule: DecoderRule, decoder: LoadedDecoder): void {
  const { rules, loaded } = useDecoders.getState();
  if (!rules.includes(rule)) return;
  useDecoders.setState({ loaded: new Map(loaded).set(rule.id, decoder) });
}

/** Reads the decoders that this browser remembers. */
async function restoreRules(): Promise<void> {
  const stored = await (await database()).getAllFromIndex('decoders', 'atMs');
  const rules = stored.map(({ atMs: _atMs, ...rule }) => rule);
  if (rules.length > 0) replaceRules([...rules, ...useDecoders.getState().rules]);
}

// Called with the first view that decodes payloads; a private window may refuse storage, and then there are none.
if ('indexedDB' in globalThis) void restoreRules().catch(() => {});

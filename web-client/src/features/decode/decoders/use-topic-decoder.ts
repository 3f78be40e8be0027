import { useCallback, useEffect } from 'react';
import { type Decoded, decodePayload, decodeWith, type FormatChoice } from '../decode.ts';
import { load, ruleFor, useDecoders } from './registry.ts';
import { BUILT_IN_RULE } from './rules.ts';

/** How payloads of a topic are decoded: by the user's choice, by the decoder of a matching filter, or by detection. */
export function useTopicDecoder(
  topic: string,
  choice: FormatChoice,
  contentType: string | undefined,
): (payload: Uint8Array) => Decoded {
  useDecoders(({ rules }) => rules);
  const rule = choice === 'auto' ? ruleFor(topic) : undefined;
  const loaded = useDecoders((state) => rule && state.loaded.get(rule.id));
  useEffect(() => {
    if (rule !== undefined) load(rule);
  }, [rule]);
  return useCallback(
    (payload) => {
      const detected = (): Decoded => decodePayload(payload, choice, { contentType });
      if (rule === undefined || loaded === undefined || loaded.state === 'loading') return detected();
      if (loaded.state === 'failed') return { ...decodePayload(payload, 'hex'), problem: loaded.problem };
      const decoded = decodeWith(loaded.decode, rule.kind, payload, topic);
      // No rule applies there: the format of another payload is detected.
      return rule === BUILT_IN_RULE && decoded.problem !== '' ? detected() : decoded;
    },
    [rule, loaded, choice, contentType, topic],
  );
}

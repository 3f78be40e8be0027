import { useCallback, useEffect } from 'react';
import { type Decoded, decodePayload, decodeWith, type FormatChoice } from '../decode.ts';
import { load, ruleFor, useDecoders } from './registry.ts';

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
      if (rule === undefined || loaded === undefined || loaded.state === 'loading')
        return decodePayload(payload, choice, { contentType });
      if (loaded.state === 'failed') return { ...decodePayload(payload, 'hex'), problem: loaded.problem };
      return decodeWith(loaded.decode, payload);
    },
    [rule, loaded, choice, contentType],
  );
}

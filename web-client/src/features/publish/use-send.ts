import { useState } from 'react';
import type { ConnectionProfile, Outcome } from '../../engine/types.ts';
import { publishLength } from '../../engine/wire/publish-length.ts';
import { connections } from '../../state/connections.ts';
import type { Draft } from '../../state/draft.ts';
import { usePacketBytesMax } from '../../state/hooks.ts';
import { remember } from './draft-archive.ts';
import { type DraftProblem, requestOf } from './draft-request.ts';

/** How the last publish stands. */
export type Sending =
  | { readonly type: 'none' }
  | { readonly type: 'sending' }
  | { readonly type: 'problem'; readonly problem: DraftProblem }
  | { readonly type: 'done'; readonly outcome: Outcome; readonly qos: number };

export function useSend(profile: ConnectionProfile): {
  readonly sending: Sending;
  readonly send: (draft: Draft) => Promise<void>;
} {
  const bytesMax = usePacketBytesMax(profile);
  const [sending, setSending] = useState<Sending>({ type: 'none' });
  const send = async (draft: Draft): Promise<void> => {
    const request = requestOf(draft, profile.protocolVersion);
    if ('key' in request) {
      setSending({ type: 'problem', problem: request });
      return;
    }
    if (bytesMax !== undefined && publishLength(request, profile.protocolVersion) > bytesMax) {
      setSending({ type: 'problem', problem: { field: 'payload', key: 'tooLarge', bytesMax } });
      return;
    }
    setSending({ type: 'sending' });
    const outcome = await connections.get(profile.id).publish(request);
    setSending({ type: 'done', outcome, qos: draft.qos });
    if (outcome.ok) await remember(draft);
  };
  return { sending, send };
}

import { useEffect, useMemo } from 'react';
import type { ConnectionProfile } from '../../engine/types.ts';
import { useConnection } from '../../state/hooks.ts';
import { MessageList } from './message-list.ts';
import { MessagesPane } from './messages-pane.tsx';

export function ConnectionMessages({ profile }: { readonly profile: ConnectionProfile }) {
  const { messages } = useConnection(profile.id);
  const list = useMemo(() => new MessageList(messages), [messages]);
  useEffect(() => list.attach(), [list]);
  return <MessagesPane profile={profile} list={list} />;
}

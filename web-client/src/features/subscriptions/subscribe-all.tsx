import { Button } from '@mantine/core';
import { newSubscription } from '../../engine/new-profile.ts';
import type { ConnectionProfile } from '../../engine/types.ts';
import { useStatus } from '../../state/hooks.ts';
import { setSubscriptions } from '../../state/profiles.ts';

/** Subscribes to everything, where no message has come yet: the filters may fit nothing of a busy broker. */
export function SubscribeAll({ profile }: { readonly profile: ConnectionProfile }) {
  const { phase } = useStatus(profile.id);
  const { id, subscriptions } = profile;
  if (phase !== 'connected' || subscriptions.some(({ filter }) => filter === '#')) return null;
  const subscribe = (): void => {
    const added = { ...newSubscription('#', subscriptions.length), qos: 0 as const };
    void setSubscriptions(id, [...subscriptions, added]);
  };
  return <Button onClick={subscribe}>Subscribe to #</Button>;
}

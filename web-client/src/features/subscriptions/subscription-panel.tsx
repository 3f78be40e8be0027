import { EmptyState, Group, ScrollArea, Title } from '@mantine/core';
import { IconAdjustmentsPlus, IconAntenna } from '@tabler/icons-react';
import { lazy, Suspense, useState } from 'react';
import type { ConnectionProfile, Subscription } from '../../engine/types.ts';
import { useStatus } from '../../state/hooks.ts';
import { setSubscriptions } from '../../state/profiles.ts';
import { IconButton } from '../../ui/icon-button.tsx';
import { QuickSubscribe } from './quick-subscribe.tsx';
import { SubscriptionItem } from './subscription-item.tsx';
import classes from './subscription-panel.module.css';

const SubscriptionDialog = lazy(async () => ({
  default: (await import('./subscription-dialog.tsx')).SubscriptionDialog,
}));

/** The subject of the open dialog: a new subscription, or an existing one. */
type Editing = 'new' | Subscription | undefined;

/** The subscriptions of a connection with their state, counters and rates. */
export function SubscriptionPanel({ profile }: { readonly profile: ConnectionProfile }) {
  const [editing, setEditing] = useState<Editing>();
  const { subscriptions: states } = useStatus(profile.id);
  const { id, subscriptions } = profile;
  const save = (subscription: Subscription): void => {
    const index = subscriptions.findIndex((known) => known.id === subscription.id);
    const next = index === -1 ? [...subscriptions, subscription] : subscriptions.with(index, subscription);
    void setSubscriptions(id, next);
  };
  const remove = (subscription: Subscription): void =>
    void setSubscriptions(
      id,
      subscriptions.filter((known) => known.id !== subscription.id),
    );
  return (
    <section className={classes.panel} aria-label="Subscriptions">
      <Group className={classes.head} justify="space-between" wrap="nowrap">
        <Title order={2} size="sm">
          Subscriptions
        </Title>
        <IconButton label="New subscription, with all options" onClick={() => setEditing('new')}>
          <IconAdjustmentsPlus size={16} stroke={1.5} />
        </IconButton>
      </Group>
      <QuickSubscribe profile={profile} onSubscribe={save} />
      <ScrollArea className={classes.list} type="auto">
        {subscriptions.length === 0 ? (
          <EmptyState
            size="sm"
            p="md"
            icon={<IconAntenna stroke={1.5} />}
            title="No subscription yet"
            description="Subscribe to # to see everything that you may see, or to a part of it."
          />
        ) : (
          <ul className={classes.items}>
            {subscriptions.map((subscription) => (
              <li key={subscription.id}>
                <SubscriptionItem
                  connectionId={id}
                  subscription={subscription}
                  state={states[subscription.id]}
                  onChange={save}
                  onEdit={() => setEditing(subscription)}
                  onRemove={() => remove(subscription)}
                />
              </li>
            ))}
          </ul>
        )}
      </ScrollArea>
      {editing !== undefined && (
        <Suspense>
          <SubscriptionDialog
            profile={profile}
            subscription={editing === 'new' ? undefined : editing}
            onSave={save}
            close={() => setEditing(undefined)}
          />
        </Suspense>
      )}
    </section>
  );
}

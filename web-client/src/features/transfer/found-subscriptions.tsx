import { Button, Text } from '@mantine/core';
import { useState } from 'react';
import type { Subscription } from '../../engine/types.ts';
import { t } from '../../i18n/index.ts';
import { useActiveProfile } from '../../state/hooks.ts';
import { setSubscriptions } from '../../state/profiles.ts';
import { Names } from './names.tsx';
import { newAmong } from './subscriptions-file.ts';

/** Subscriptions of a file, for the connection that is shown. */
export function FoundSubscriptions({ subscriptions }: { readonly subscriptions: readonly Subscription[] }) {
  const profile = useActiveProfile();
  const [added, setAdded] = useState<number>();
  if (profile === undefined) return <Text size="sm">{t('transfer.noConnection')}</Text>;
  const fresh = newAmong(subscriptions, profile.subscriptions);
  const known = subscriptions.length - fresh.length;
  const add = async (): Promise<void> => {
    await setSubscriptions(profile.id, [...profile.subscriptions, ...fresh]);
    setAdded(fresh.length);
  };
  return (
    <>
      <Text size="sm">{t('transfer.foundSubscriptions', { count: subscriptions.length })}</Text>
      <Names
        names={subscriptions.map(({ id, filter, alias, qos }) => ({
          id,
          name: filter,
          detail: `QoS ${qos}${alias === '' ? '' : `, ${alias}`}`,
        }))}
      />
      {added === undefined && known > 0 && (
        <Text size="xs" mb="xs">
          {t('transfer.knownSubscriptions', { count: known })}
        </Text>
      )}
      {added === undefined ? (
        <Button disabled={fresh.length === 0} onClick={() => void add()}>
          {t('transfer.addSubscriptions', { count: fresh.length, name: profile.name })}
        </Button>
      ) : (
        <Text size="sm" fw={600}>
          {t('transfer.addedSubscriptions', { count: added })}
        </Text>
      )}
    </>
  );
}

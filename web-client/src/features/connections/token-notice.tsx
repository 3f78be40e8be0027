import { Alert, Button, Group, PasswordInput, Text } from '@mantine/core';
import { IconClockExclamation } from '@tabler/icons-react';
import { type FormEvent, useState } from 'react';
import { endOfToken } from '../../engine/token-end.ts';
import { t } from '../../i18n/index.ts';
import { renewToken } from '../../state/profiles.ts';
import { formatDateTime } from '../../ui/format.ts';

interface TokenNoticeProps {
  readonly id: string;
  readonly endsAtMs: number;
}

/** Says when the token of an open connection ends, and takes another one without ending the session. */
export function TokenNotice({ id, endsAtMs }: TokenNoticeProps) {
  const [token, setToken] = useState('');
  const endsNoLater = (endOfToken(token) ?? Number.POSITIVE_INFINITY) <= endsAtMs;
  const renew = (event: FormEvent): void => {
    event.preventDefault();
    void renewToken(id, token.trim());
    setToken('');
  };
  return (
    <Alert color="yellow" variant="light" radius={0} icon={<IconClockExclamation />} role="status" p="xs">
      <form aria-label={t('connections.renew')} onSubmit={renew}>
        <Group gap="xs" align="end">
          <Text size="sm" flex="1 1 320px">
            {t('connections.tokenEnds', { time: formatDateTime(endsAtMs) })}
          </Text>
          <PasswordInput
            label={t('connections.newToken')}
            autoComplete="off"
            miw={180}
            error={endsNoLater && t('connections.tokenNoLater')}
            value={token}
            onChange={(event) => setToken(event.currentTarget.value)}
          />
          <Button type="submit" disabled={token.trim() === '' || endsNoLater}>
            {t('connections.renew')}
          </Button>
        </Group>
      </form>
    </Alert>
  );
}

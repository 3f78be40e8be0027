import { Alert, Button, Group, PasswordInput, Text } from '@mantine/core';
import { IconClockExclamation } from '@tabler/icons-react';
import { type FormEvent, useState } from 'react';
import { endOfToken } from '../../engine/token-end.ts';
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
      <form aria-label="Renew" onSubmit={renew}>
        <Group gap="xs" align="end">
          <Text size="sm" flex="1 1 320px">
            {`The token of this connection ends at ${formatDateTime(endsAtMs)}. With a new one of the same subject the session goes on.`}
          </Text>
          <PasswordInput
            label="New token"
            autoComplete="off"
            miw={180}
            error={endsNoLater && 'It ends no later than the present one'}
            value={token}
            onChange={(event) => setToken(event.currentTarget.value)}
          />
          <Button type="submit" disabled={token.trim() === '' || endsNoLater}>
            Renew
          </Button>
        </Group>
      </form>
    </Alert>
  );
}

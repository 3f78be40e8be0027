import type { UserLine } from '@apus/api';
import { pathWith } from '@apus/api/path';
import { Button, Group, Text } from '@mantine/core';
import { IconUserPlus } from '@tabler/icons-react';
import { useState } from 'react';
import { plural } from '../../ui/format.ts';
import { visibleText } from '../../ui/visible-text.ts';
import type { AdminApi } from './admin-api.ts';
import classes from './admin-view.module.css';
import { ConfirmButton } from './confirm-button.tsx';
import { PagedTable } from './paged-table.tsx';
import { UserDialog } from './user-dialog.tsx';

/** Users with passwords, and their rules. */
export function UsersTable({ api }: { readonly api: AdminApi }) {
  const [edited, setEdited] = useState<UserLine | 'new'>();
  const [round, setRound] = useState(0);
  return (
    <>
      <Text size="sm" mb="xs">
        {api.isDeployment
          ? 'Users with a password. A change counts from the next CONNECT on.'
          : 'Users with a password. A change is in force at once: rules for clients that are connected, too. Workers of one machine share the file. Processes on other machines have files of their own.'}
      </Text>
      <PagedTable<UserLine>
        key={round}
        api={api}
        label="Users"
        path="/users"
        columns={[
          { label: 'Name', sortKey: ({ name }) => name },
          { label: 'May publish to' },
          { label: 'May subscribe to' },
          { label: 'Action' },
        ]}
        empty="There are no users."
        tools={() => (
          <Group gap="xs" mr="auto">
            <Button leftSection={<IconUserPlus size={15} stroke={1.5} />} onClick={() => setEdited('new')}>
              Add a user …
            </Button>
          </Group>
        )}
        row={(user, refresh) => (
          <tr key={user.name}>
            <th scope="row" className={classes.name}>
              {visibleText(user.name)}
            </th>
            <td className={classes.name}>{allowed(user.publish, user)}</td>
            <td className={classes.name}>{allowed(user.subscribe, user)}</td>
            <td className={classes.action}>
              <Group gap={6} wrap="nowrap">
                <Button
                  variant="default"
                  size="compact-xs"
                  aria-label={`Edit ${user.name}`}
                  onClick={() => setEdited(user)}
                >
                  Edit …
                </Button>
                <ConfirmButton
                  label={`Remove ${user.name}`}
                  short="Remove"
                  question="Its sessions end, and it cannot connect any more."
                  act={() => api.remove(pathWith('/users/:name', { name: user.name }))}
                  done={refresh}
                />
              </Group>
            </td>
          </tr>
        )}
      />
      {edited !== undefined && (
        <UserDialog
          api={api}
          user={edited === 'new' ? undefined : edited}
          close={() => setEdited(undefined)}
          done={() => setRound((last) => last + 1)}
        />
      )}
    </>
  );
}

/** The filters of a user; of rules, how many there are. */
function allowed(filters: readonly string[] = [], { rules = [] }: UserLine): string {
  const counted = rules.length === 0 ? [] : [`${rules.length} ${plural(rules.length, 'rule', 'rules')}`];
  const all = [...filters.map((filter) => visibleText(filter)), ...counted];
  return all.length === 0 ? 'nothing' : all.join(', ');
}

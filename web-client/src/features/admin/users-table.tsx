import type { UserLine } from '@apus/api';
import { pathWith } from '@apus/api/path';
import { Button, Group, Text } from '@mantine/core';
import { IconUserPlus } from '@tabler/icons-react';
import { useState } from 'react';
import { t } from '../../i18n/index.ts';
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
          ? t('admin.observing.users.textDeployment')
          : `${t('admin.observing.users.text')} ${t('admin.observing.users.cluster')}`}
      </Text>
      <PagedTable<UserLine>
        key={round}
        api={api}
        label={t('admin.observing.users.tab')}
        path="/users"
        columns={[
          { label: t('admin.observing.users.columns.name'), sortKey: ({ name }) => name },
          { label: t('admin.observing.users.columns.publish') },
          { label: t('admin.observing.users.columns.subscribe') },
          { label: t('admin.observing.users.columns.action') },
        ]}
        empty={t('admin.observing.users.none')}
        tools={() => (
          <Group gap="xs" mr="auto">
            <Button leftSection={<IconUserPlus size={15} stroke={1.5} />} onClick={() => setEdited('new')}>
              {t('admin.observing.users.add')}
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
                  aria-label={t('admin.observing.users.edit', { name: user.name })}
                  onClick={() => setEdited(user)}
                >
                  {t('admin.observing.users.editShort')}
                </Button>
                <ConfirmButton
                  label={t('admin.observing.users.remove', { name: user.name })}
                  short={t('admin.observing.users.removeShort')}
                  question={t('admin.observing.users.removeText')}
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
  const counted = rules.length === 0 ? [] : [t('admin.observing.users.rules', { count: rules.length })];
  const all = [...filters.map((filter) => visibleText(filter)), ...counted];
  return all.length === 0 ? t('admin.observing.users.nothing') : all.join(', ');
}

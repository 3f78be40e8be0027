import type { BanLine } from '@apus/api';
import { pathWith } from '@apus/api/path';
import { Button, Group } from '@mantine/core';
import { IconBan } from '@tabler/icons-react';
import { useState } from 'react';
import { t } from '../../i18n/index.ts';
import { formatDateTime } from '../../ui/format.ts';
import { visibleText } from '../../ui/visible-text.ts';
import type { AdminApi } from './admin-api.ts';
import classes from './admin-view.module.css';
import { BanDialog } from './ban-dialog.tsx';
import { ConfirmButton } from './confirm-button.tsx';
import { PagedTable } from './paged-table.tsx';

/** The banned clients, with the reasons. */
export function BansTable({ api }: { readonly api: AdminApi }) {
  const [isBanning, setBanning] = useState(false);
  const [round, setRound] = useState(0);
  return (
    <>
      <PagedTable<BanLine>
        key={round}
        api={api}
        label={t('admin.tabs.bans')}
        path="/banned"
        columns={[
          { label: t('admin.columns.kind'), sortKey: (entry) => entry.as },
          { label: t('admin.columns.who'), sortKey: ({ who }) => who },
          { label: t('admin.columns.reason'), sortKey: ({ reason }) => reason },
          { label: t('admin.columns.by'), sortKey: ({ by }) => by },
          { label: t('admin.columns.since'), sortKey: ({ at }) => at },
          { label: t('admin.columns.until'), sortKey: ({ until }) => until },
          { label: t('admin.columns.action') },
        ]}
        empty={t('admin.noBans')}
        tools={() => (
          <Group gap="xs" mr="auto">
            <Button leftSection={<IconBan size={15} stroke={1.5} />} onClick={() => setBanning(true)}>
              {t('admin.ban.add')}
            </Button>
          </Group>
        )}
        row={(ban, refresh) => <BanRow key={`${ban.as} ${ban.who}`} api={api} ban={ban} refresh={refresh} />}
      />
      {isBanning && (
        <BanDialog api={api} close={() => setBanning(false)} done={() => setRound((last) => last + 1)} />
      )}
    </>
  );
}

interface BanRowProps {
  readonly api: AdminApi;
  readonly ban: BanLine;
  readonly refresh: () => void;
}

function BanRow({ api, ban, refresh }: BanRowProps) {
  const { as, who, reason, by, at, until, issued_before } = ban;
  const path = pathWith('/banned/:as/:who', { as, who });
  return (
    <tr>
      <td>{t(`admin.ban.kinds.${as}`)}</td>
      <th scope="row" className={classes.name}>
        {visibleText(who)}
      </th>
      <td>
        {reason || '–'}
        {issued_before !== undefined &&
          ` · ${t('admin.ban.issuedBefore', { time: formatDateTime(Date.parse(issued_before)) })}`}
      </td>
      <td>{by}</td>
      <td className={classes.time}>{formatDateTime(Date.parse(at))}</td>
      <td className={classes.time}>
        {until === 'infinity' ? t('admin.ban.forever') : formatDateTime(Date.parse(until))}
      </td>
      <td className={classes.action}>
        <ConfirmButton
          label={t('admin.ban.lift', { name: who })}
          short={t('admin.ban.liftShort')}
          question={t('admin.ban.liftText')}
          act={() => api.remove(path)}
          done={refresh}
        />
      </td>
    </tr>
  );
}

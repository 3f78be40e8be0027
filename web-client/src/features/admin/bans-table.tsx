import type { BanLine } from '@apus/api';
import { pathWith } from '@apus/api/path';
import { Button, Group } from '@mantine/core';
import { IconBan } from '@tabler/icons-react';
import { useState } from 'react';
import { formatDateTime } from '../../ui/format.ts';
import { visibleText } from '../../ui/visible-text.ts';
import type { AdminApi } from './admin-api.ts';
import classes from './admin-view.module.css';
import { BanDialog } from './ban-dialog.tsx';
import { ConfirmButton } from './confirm-button.tsx';
import { PagedTable } from './paged-table.tsx';
import { adminWords } from './strings.ts';

/** The banned clients, with the reasons. */
export function BansTable({ api }: { readonly api: AdminApi }) {
  const [isBanning, setBanning] = useState(false);
  const [round, setRound] = useState(0);
  return (
    <>
      <PagedTable<BanLine>
        key={round}
        api={api}
        label="Bans"
        path="/banned"
        columns={[
          { label: 'Kind', sortKey: (entry) => entry.as },
          { label: 'Who', sortKey: ({ who }) => who },
          { label: 'Reason', sortKey: ({ reason }) => reason },
          { label: 'By', sortKey: ({ by }) => by },
          { label: 'Since', sortKey: ({ at }) => at },
          { label: 'Until', sortKey: ({ until }) => until },
          { label: 'Action' },
        ]}
        empty="There are no bans."
        tools={() => (
          <Group gap="xs" mr="auto">
            <Button leftSection={<IconBan size={15} stroke={1.5} />} onClick={() => setBanning(true)}>
              Ban …
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
      <td>{adminWords.ban.kinds[as]}</td>
      <th scope="row" className={classes.name}>
        {visibleText(who)}
      </th>
      <td>
        {reason || '–'}
        {issued_before !== undefined &&
          ` · ${`credentials issued before ${formatDateTime(Date.parse(issued_before))}`}`}
      </td>
      <td>{by}</td>
      <td className={classes.time}>{formatDateTime(Date.parse(at))}</td>
      <td className={classes.time}>
        {until === 'infinity' ? 'it is lifted' : formatDateTime(Date.parse(until))}
      </td>
      <td className={classes.action}>
        <ConfirmButton
          label={`Lift the ban of ${who}`}
          short="Lift"
          question="From now on it may connect again, as far as its rights go."
          act={() => api.remove(path)}
          done={refresh}
        />
      </td>
    </tr>
  );
}

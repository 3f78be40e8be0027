import { Center, Checkbox, EmptyState, Text, Title, Tooltip } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { IconArrowsExchange } from '@tabler/icons-react';
import { useCallback, useMemo, useState } from 'react';
import type { ConnectionProfile, FrameLog, LiveConnection, PacketLog } from '../../engine/types.ts';
import { useActiveConnection, useActiveProfile, useLogChanges, useStatus } from '../../state/hooks.ts';
import { setLayout, useLayout } from '../../state/layout.ts';
import { BottomDrawer } from '../../ui/bottom-drawer.tsx';
import { formatBytes, formatCount, plural } from '../../ui/format.ts';
import { LogTools } from '../../ui/log-tools.tsx';
import { EmptyConnection } from '../connections/empty-connection.tsx';
import { WireDetails } from './wire-details.tsx';
import { type WireRow, WireRows } from './wire-rows.ts';
import { WireSums } from './wire-sums.tsx';
import { WireTable } from './wire-table.tsx';
import classes from './wire-view.module.css';

/** The boxes above the table, by what they hide. */
const BOXES = [
  ['hidesDelivery', 'PUBLISH and acknowledgements'],
  ['hidesPings', 'Pings'],
  ['hidesEmptyFrames', 'Frames without packets'],
] as const;

/** What went over the wire: packets, and at the gateway door the frames that they shared and their bill. */
export function WireView() {
  const connection = useActiveConnection();
  const profile = useActiveProfile();
  if (connection === undefined || profile === undefined) return <EmptyConnection />;
  return <Wire key={profile.id} connection={connection} profile={profile} />;
}

interface WireProps {
  readonly connection: LiveConnection;
  readonly profile: ConnectionProfile;
}

function Wire({ connection: { packets, frames }, profile }: WireProps) {
  const { door, traffic } = useStatus(profile.id);
  const isGateway = door === 'gateway';
  const hides = {
    hidesDelivery: useLayout((layout) => layout.hidesDelivery),
    hidesPings: useLayout((layout) => layout.hidesPings),
    hidesEmptyFrames: useLayout((layout) => layout.hidesEmptyFrames),
  };
  const { hidesDelivery, hidesPings, hidesEmptyFrames } = hides;
  const rows = useMemo(
    () =>
      new WireRows(packets, isGateway ? frames : undefined, { hidesDelivery, hidesPings, hidesEmptyFrames }),
    [packets, frames, isGateway, hidesDelivery, hidesPings, hidesEmptyFrames],
  );
  const [held, setHeld] = useState<readonly WireRow[]>();
  const toggle = useCallback(
    () => setHeld((before) => (before === undefined ? rows.now() : undefined)),
    [rows],
  );
  const shown = { rows, packets, frames, held };
  return (
    <section className={classes.view} aria-label="Wire">
      <div className={classes.toolbar}>
        <Title order={2} size="sm">
          Wire
        </Title>
        {BOXES.map(
          ([hidden, label]) =>
            (isGateway || hidden !== 'hidesEmptyFrames') && (
              <Checkbox
                key={hidden}
                label={label}
                checked={!hides[hidden]}
                onChange={(event) => {
                  setHeld(undefined);
                  setLayout({ [hidden]: !event.currentTarget.checked });
                }}
              />
            ),
        )}
        <LogTools
          // At the gateway door the sums below count.
          count={!isGateway && <Count {...shown} />}
          isHeld={held !== undefined}
          toggle={toggle}
          clearLabel="Clear the timeline"
          clear={() => {
            setHeld(undefined);
            packets.clear();
            frames.clear();
          }}
        />
      </div>
      {traffic.gateway !== undefined && <WireSums traffic={traffic.gateway} />}
      <Body {...shown} protocolVersion={profile.protocolVersion} isGateway={isGateway} onHold={setHeld} />
    </section>
  );
}

interface Shown {
  readonly rows: WireRows;
  readonly packets: PacketLog;
  readonly frames: FrameLog;
  /** The rows on the screen when the list was paused. */
  readonly held: readonly WireRow[] | undefined;
}

/** Renders once per screen frame: only components that show rows use it. */
function useShown({ rows, packets, frames, held }: Shown): readonly WireRow[] {
  useLogChanges(packets);
  useLogChanges(frames);
  return held ?? rows.now();
}

interface BodyProps extends Shown {
  readonly protocolVersion: number;
  readonly isGateway: boolean;
  readonly onHold: (rows: readonly WireRow[]) => void;
}

function Body({ protocolVersion, isGateway, onHold, ...shown }: BodyProps) {
  const rows = useShown(shown);
  const [selected, setSelected] = useState<WireRow>();
  const isNarrow = useMediaQuery('(max-width: 62em)');
  const close = (): void => setSelected(undefined);
  const details = selected && (
    <WireDetails row={selected} protocolVersion={protocolVersion} isGateway={isGateway} close={close} />
  );
  return (
    <div className={classes.body}>
      {rows.length === 0 ? (
        <Nothing isEmpty={shown.packets.size === 0} />
      ) : (
        <WireTable
          rows={rows}
          protocolVersion={protocolVersion}
          isGateway={isGateway}
          selected={selected}
          onSelect={setSelected}
          onScrollAway={() => onHold(rows)}
        />
      )}
      {!isNarrow && (
        <aside className={classes.details} aria-label="Packet or frame">
          {details ?? (
            <Text size="xs" c="dimmed" p="md">
              Choose a line to see it byte by byte.
            </Text>
          )}
        </aside>
      )}
      {isNarrow && details !== undefined && (
        <BottomDrawer label="Packet or frame" onClose={close}>
          {details}
        </BottomDrawer>
      )}
    </div>
  );
}

function Nothing({ isEmpty }: { readonly isEmpty: boolean }) {
  return (
    <Center>
      <EmptyState
        size="sm"
        icon={<IconArrowsExchange stroke={1.5} />}
        title={isEmpty ? 'Nothing has gone over the wire yet' : 'The boxes above hide all of it'}
        description={isEmpty ? 'Connect, and see each packet.' : ''}
      />
    </Center>
  );
}

function Count(shown: Shown) {
  const { length } = useShown(shown);
  const { countMax, bytesMax } = shown.packets.limits;
  return (
    <Tooltip label={`The newest ${formatCount(countMax)} packets or ${formatBytes(bytesMax)} are kept.`}>
      <Text size="xs" c="dimmed" px={6} style={{ whiteSpace: 'nowrap', fontVariantNumeric: 'tabular-nums' }}>
        {plural(length, `${formatCount(length)} packet`, `${formatCount(length)} packets`)}
      </Text>
    </Tooltip>
  );
}

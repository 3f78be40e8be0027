import { useTranslation } from 'react-i18next';
import { inspectPacket } from '../../engine/inspect/inspect-packet.ts';
import { connections } from '../../state/connections.ts';
import { useLogChanges } from '../../state/hooks.ts';
import { CLIENT_A, ladder } from './demo.ts';
import classes from './start-view.module.css';

/** Packets that fit beside the steps: all of the example. */
const PACKETS_MAX = 22;

/** The packets between client A and the server, as arrows. */
export function Ladder({ protocolVersion }: { readonly protocolVersion: number }) {
  const { t } = useTranslation();
  useLogChanges(connections.get(CLIENT_A).packets);
  return (
    <>
      <div className={classes.ends} aria-hidden>
        <span>{t('start.clientA')}</span>
        <span>{t('start.server')}</span>
      </div>
      <ol className={classes.ladder}>
        {ladder(PACKETS_MAX).map((packet) => {
          const { name, summary } = inspectPacket(packet.bytes, protocolVersion);
          return (
            <li key={packet.sequence} className={classes.arrow} data-direction={packet.direction}>
              <strong title={t(`packets.${packet.direction}`)}>{name}</strong>
              <span>{shortened(summary)}</span>
            </li>
          );
        })}
      </ol>
    </>
  );
}

/** The topic's own end tells enough here. */
function shortened(summary: string): string {
  return summary.replaceAll(/apus\/example\/[0-9a-f]+\//g, '…/');
}

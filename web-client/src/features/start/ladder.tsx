import { summarizePacket } from '../../engine/inspect/inspect-packet.ts';
import { connections } from '../../state/connections.ts';
import { useLogChanges } from '../../state/hooks.ts';
import { CLIENT_A, ladder, useDemo } from './demo.ts';
import classes from './start-view.module.css';
import { startWords } from './strings.ts';

/** Packets that fit beside the steps: all of the example. */
const PACKETS_MAX = 22;

/** The packets between client A and the server, as arrows. */
export function Ladder({ protocolVersion }: { readonly protocolVersion: number }) {
  const topic = useDemo((demo) => demo.topic);
  useLogChanges(connections.get(CLIENT_A).packets);
  return (
    <>
      <div className={classes.ends} aria-hidden>
        <span>Client A</span>
        <span>Server</span>
      </div>
      <ol className={classes.ladder}>
        {ladder(PACKETS_MAX).map((packet) => {
          const { name, summary } = summarizePacket(packet.bytes, protocolVersion);
          return (
            <li key={packet.sequence} className={classes.arrow} data-direction={packet.direction}>
              <strong title={startWords.directions[packet.direction]}>{name}</strong>
              <span>{summary.replaceAll(`${topic}/`, '…/')}</span>
            </li>
          );
        })}
      </ol>
    </>
  );
}

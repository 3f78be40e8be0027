import { Button, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { FrameLog, LoggedPacket } from '../../engine/types.ts';
import { useLogChanges } from '../../state/hooks.ts';
import { openView } from '../../state/routes.ts';
import { selectFrame } from '../frames/frames-store.ts';

interface FrameLineProps {
  readonly packet: LoggedPacket;
  readonly frames: FrameLog;
  readonly profileId: string;
}

/** In which text frame a packet travelled, and with how many others. */
export function FrameLine({ packet: { frame: number }, frames, profileId }: FrameLineProps) {
  const { t } = useTranslation();
  useLogChanges(frames);
  if (typeof number !== 'number') {
    return (
      <Text size="xs" c="dimmed" px="xs">
        {t(`packets.noFrame.${number ?? 'waits'}`)}
      </Text>
    );
  }
  const frame = frames.withNumber(number);
  return (
    <Text size="xs" px="xs">
      {frame === undefined
        ? t('packets.inOldFrame', { number })
        : t('packets.inFrame', {
            count: frame.packets.length,
            number,
            kind: t(`frames.kinds.${frame.kind}`),
          })}
      {frame !== undefined && (
        <Button
          variant="subtle"
          size="compact-xs"
          ml={6}
          onClick={() => {
            selectFrame(profileId, number);
            openView('frames');
          }}
        >
          {t('packets.showFrame')}
        </Button>
      )}
    </Text>
  );
}

import { Button, Group } from '@mantine/core';
import { IconPlayerPause, IconPlayerPlay, IconTrash } from '@tabler/icons-react';
import { type ReactNode, useEffect } from 'react';
import { IconButton } from './icon-button.tsx';
import { provideShortcut } from './shortcut-actions.ts';

const ICON = { size: 15, stroke: 1.5 } as const;

interface LogToolsProps {
  /** How many are shown. */
  readonly count?: ReactNode;
  readonly isHeld: boolean;
  readonly toggle: () => void;
  readonly clearLabel: string;
  readonly clear: () => void;
}

/** The end of a log's toolbar: how many there are, pause, and clear. */
export function LogTools({ count, isHeld, toggle, clearLabel, clear }: LogToolsProps) {
  useEffect(() => provideShortcut('pause', toggle), [toggle]);
  return (
    <Group gap={4} ml="auto" wrap="nowrap">
      {count}
      <Button
        variant={isHeld ? 'filled' : 'default'}
        leftSection={isHeld ? <IconPlayerPlay {...ICON} /> : <IconPlayerPause {...ICON} />}
        onClick={toggle}
        data-testid={isHeld ? 'resume' : undefined}
      >
        {isHeld ? 'Resume' : 'Pause'}
      </Button>
      <IconButton label={clearLabel} onClick={clear}>
        <IconTrash size={16} stroke={1.5} />
      </IconButton>
    </Group>
  );
}

import './app/mantine.css';
import './app/global.css';
import './app/stand-in-fonts.css';
import { MantineProvider } from '@mantine/core';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Shell } from './app/shell.tsx';
import { cssVariables, theme } from './app/theme.ts';
import { keptCharts } from './features/charts/kept-charts.ts';
import { followTopics } from './features/tree/topic-trees.ts';
import { boot } from './state/boot.ts';
import { useStore } from './state/store.ts';
import { say } from './ui/notice.ts';

const root = document.getElementById('root');
if (root === null) throw new Error('index.html has no #root');
createRoot(root).render(
  <StrictMode>
    <MantineProvider theme={theme} cssVariablesResolver={cssVariables} defaultColorScheme="auto">
      <Shell />
    </MantineProvider>
  </StrictMode>,
);
followTopics();
void boot().then(resumeCharts, (error: unknown) => {
  useStore.setState({ isReady: true });
  say({ kind: 'failed', text: String(error) });
});

/** Samples are recorded from the first message on, even if no chart is open. */
async function resumeCharts(): Promise<void> {
  if (keptCharts().series.length > 0) await import('./features/charts/charts-store.ts');
}

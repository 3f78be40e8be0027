import type uPlot from 'uplot';
import type { PlotColors } from '../../ui/plot.tsx';

/** A line of the legend. */
export interface LegendEntry {
  readonly name: string;
  readonly color: string;
}

const FONT = '12px system-ui, sans-serif';
const LINE_PX = 18;
const MARGIN_PX = 12;

/** The visible charts, one below the other, with a title and a legend, which the pictures lack. */
export async function pngOf(
  plots: readonly uPlot[],
  title: string,
  legend: readonly LegendEntry[],
  colors: PlotColors,
): Promise<Blob> {
  const [first] = plots;
  if (first === undefined) throw new Error('there is no chart to draw');
  const sources = plots.map(({ ctx }) => ctx.canvas);
  const scale = first.ctx.canvas.width / first.width;
  const headPx = MARGIN_PX * 2 + LINE_PX * (legend.length + 1);
  const canvas = document.createElement('canvas');
  canvas.width = first.ctx.canvas.width;
  canvas.height = sources.reduce((sum, { height }) => sum + height, headPx * scale);
  const context = canvas.getContext('2d');
  if (context === null) throw new Error('this browser gives no canvas to draw on');
  context.fillStyle = colors.background;
  context.fillRect(0, 0, canvas.width, canvas.height);
  let top = headPx * scale;
  for (const source of sources) {
    context.drawImage(source, 0, top);
    top += source.height;
  }
  context.scale(scale, scale);
  context.font = FONT;
  context.textBaseline = 'middle';
  context.fillStyle = colors.text;
  context.fillText(title, MARGIN_PX, MARGIN_PX + LINE_PX / 2);
  for (const [index, { name, color }] of legend.entries()) {
    const y = MARGIN_PX + LINE_PX * (index + 1.5);
    context.fillStyle = color;
    context.fillRect(MARGIN_PX, y - 2, 14, 4);
    context.fillStyle = colors.text;
    context.fillText(name, MARGIN_PX + 22, y, first.width - MARGIN_PX * 2 - 22);
  }
  return await new Promise((resolve, reject) => {
    canvas.toBlob((blob) => (blob === null ? reject(new Error('the picture is too large')) : resolve(blob)));
  });
}

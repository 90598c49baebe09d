// Reads point clouds (docs/web.md has the format).

export interface Layer {
  name: string;
  start: number;
  count: number;
}

export interface Cloud {
  points: Float32Array;
  colours: Map<string, Uint8Array>;
  layers: Layer[];
  fovDeg: number;
}

interface Header {
  version: number;
  count: number;
  colours: string[];
  layers: { name: string; count: number }[];
  fov_deg: number;
}

export function readCloud(content: ArrayBuffer): Cloud {
  const magic = new TextDecoder().decode(content.slice(0, 4));
  if (magic !== "DGPC") throw new Error("this is not a point cloud");
  const length = new DataView(content).getUint32(4, true);
  const header = JSON.parse(new TextDecoder().decode(content.slice(8, 8 + length))) as Header;
  if (header.version !== 1) throw new Error(`version ${header.version} of point clouds is not known here; reload the page`);
  const start = 8 + length;
  const size = header.count * 3;
  if (content.byteLength !== start + size * (4 + header.colours.length)) throw new Error("this point cloud is not complete");
  const first = start + 4 * size;
  let place = 0;
  return {
    points: new Float32Array(content, start, size),
    colours: new Map(header.colours.map((name, k) => [name, new Uint8Array(content, first + k * size, size)])),
    layers: header.layers.map(({ name, count }) => ({ name, count, start: (place += count) - count })),
    fovDeg: header.fov_deg,
  };
}

/** The depth that the view turns around: between near and far, closer to what is near. */
export function middleDepth(points: Float32Array): number {
  const step = Math.max(1, Math.floor(points.length / 3 / 10000));
  const depths: number[] = [];
  for (let place = 2; place < points.length; place += 3 * step) depths.push(points[place] ?? 0);
  depths.sort((a, b) => a - b);
  const near = depths[Math.floor(0.05 * depths.length)] ?? 1;
  const far = depths[Math.floor(0.95 * depths.length)] ?? 1;
  return 2 / (1 / near + 1 / far);
}

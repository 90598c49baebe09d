// The cloud in WebGL: the whole view thinned out, and what is looked at closely in full.
import {
  BufferAttribute,
  BufferGeometry,
  LinearSRGBColorSpace,
  Matrix4,
  PerspectiveCamera,
  Points,
  Scene,
  ShaderMaterial,
  Vector3,
  WebGLRenderer,
} from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import { oncePerFrame } from "../shared/viewer.js";
import { middleDepth } from "../points/cloud.js";
import { COLOURS, type Colours } from "./colours.js";
import { pixelOf, type Piece } from "./piece.js";
import { projected } from "./removal.js";

const SMOOTH_MS = 40;
/** While the view turns, at least so many points are drawn. */
const FEWEST = 30_000;
const STILL_MS = 160;

const VERTEX = `
attribute vec3 tint;
attribute float sigma;
attribute float gone;
uniform float size;
uniform float least;
uniform float most;
uniform float mode;
uniform float showGone;
uniform vec2 depths;
varying vec3 shade;
vec3 ramp(float t) {
  vec3 a = vec3(0.16, 0.30, 0.63), b = vec3(0.55, 0.78, 0.60), c = vec3(0.98, 0.84, 0.25), d = vec3(0.86, 0.20, 0.13);
  return t < 0.33 ? mix(a, b, t / 0.33) : t < 0.66 ? mix(b, c, (t - 0.33) / 0.33) : mix(c, d, (t - 0.66) / 0.34);
}
void main() {
  gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
  gl_PointSize = size;
  bool known = sigma >= 0.0;
  shade = mode < 0.5 ? tint : mode < 1.5 ? (known ? ramp(clamp(sigma / most, 0.0, 1.0)) : vec3(0.5))
    : ramp(clamp((-position.z - depths.x) / (depths.y - depths.x), 0.0, 1.0));
  if (gone > 0.5) shade = mix(shade, vec3(0.93, 0.20, 0.75), 0.75);
  if ((least > 0.0 && !(known && sigma >= least)) || (gone > 0.5 && showGone < 0.5)) gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
}`;

const FRAGMENT = `
varying vec3 shade;
void main() { gl_FragColor = vec4(shade, 1.0); }`;

interface Shown {
  piece: Piece;
  points: Points<BufferGeometry, ShaderMaterial>;
  gone: BufferAttribute;
}

export class CleanScene {
  readonly #renderer: WebGLRenderer;
  readonly #scene = new Scene();
  readonly #camera = new PerspectiveCamera(50, 1, 0.001, 1000);
  readonly #controls: OrbitControls;
  readonly #material: ShaderMaterial;
  #shown: Shown[] = [];
  #distance = 1;
  #budget = 2_000_000;
  #still = 0;
  #moving = false;
  readonly draw = oncePerFrame(() => this.#render());

  constructor(
    readonly canvas: HTMLCanvasElement,
    /** Called when the view has stopped moving. */
    readonly onStill: () => void,
  ) {
    this.#renderer = new WebGLRenderer({ canvas, antialias: false });
    this.#renderer.setPixelRatio(window.devicePixelRatio || 1);
    this.#renderer.outputColorSpace = LinearSRGBColorSpace;
    this.#renderer.setClearColor(0x0c0d0f);
    this.#controls = new OrbitControls(this.#camera, canvas);
    this.#controls.addEventListener("change", () => this.#moved());
    this.#material = new ShaderMaterial({
      vertexShader: VERTEX,
      fragmentShader: FRAGMENT,
      uniforms: {
        size: { value: 2 },
        least: { value: 0 },
        most: { value: 1 },
        mode: { value: 0 },
        showGone: { value: 1 },
        depths: { value: [0, 1] },
      },
    });
  }

  /** Shows a view's cloud from its camera. */
  show(piece: Piece): void {
    this.#clear();
    this.#distance = piece.count > 0 ? middleDepth(piece.points) : 1;
    const { header } = piece;
    this.#camera.fov = (2 * Math.atan(header.height / 2 / header.focal_px[1]) * 180) / Math.PI;
    this.#camera.near = this.#distance / 200;
    this.#camera.far = this.#distance * 200;
    this.#camera.updateProjectionMatrix();
    this.#uniform("depths", [this.#distance * 0.5, this.#distance * 2]);
    this.#add(piece);
    const { width, height } = this.canvas.getBoundingClientRect();
    this.size(Math.min(6, Math.max(1.5, 1.2 * Math.sqrt((width * height) / Math.max(1, piece.count)))));
    this.reset();
  }

  /** Adds what is looked at closely, in place of what was before. */
  detail(piece: Piece): void {
    for (const old of this.#shown.splice(1)) this.#remove(old);
    this.#add(piece);
    this.draw();
  }

  get pieces(): Piece[] {
    return this.#shown.map((shown) => shown.piece);
  }

  get drawn(): number {
    return this.#shown.reduce((sum, { piece }) => sum + piece.count, 0);
  }

  /** Where the view turns around, in metres. */
  get distance(): number {
    return this.#distance;
  }

  /** Shows what is removed now. */
  refresh(): void {
    for (const { piece, gone } of this.#shown) {
      (gone.array as Uint8Array).set(piece.removed);
      gone.needsUpdate = true;
    }
    this.draw();
  }

  colours(name: Colours): void {
    this.#uniform("mode", COLOURS.indexOf(name));
  }

  least(sigma: number): void {
    this.#uniform("least", sigma);
  }

  most(sigma: number): void {
    this.#uniform("most", sigma);
  }

  showGone(shown: boolean): void {
    this.#uniform("showGone", shown ? 1 : 0);
  }

  size(pixels: number): void {
    this.#uniform("size", pixels * (window.devicePixelRatio || 1));
  }

  turning(enabled: boolean): void {
    this.#controls.enabled = enabled;
  }

  reset(): void {
    this.#camera.position.set(0, 0, 0);
    this.#camera.up.set(0, 1, 0);
    this.#controls.target.set(0, 0, -this.#distance);
    this.#controls.update();
    this.#moved();
  }

  /** Turns around the middle (radians), or comes nearer (a factor): for keys. */
  turn(sideways: number, up: number, nearer = 1): void {
    const { position } = this.#camera;
    const offset = position.clone().sub(this.#controls.target);
    const radius = offset.length() / nearer;
    const angle = Math.atan2(offset.x, offset.z) + sideways;
    const tilt = Math.min(1.5, Math.max(-1.5, Math.asin(offset.y / offset.length()) + up));
    offset.set(Math.sin(angle) * Math.cos(tilt), Math.sin(tilt), Math.cos(angle) * Math.cos(tilt)).multiplyScalar(radius);
    position.copy(this.#controls.target).add(offset);
    this.#controls.update();
    this.#moved();
  }

  /** Turns around a point of the cloud from now on. */
  lookAt(point: readonly [number, number, number]): void {
    const target = new Vector3(point[0], -point[1], -point[2]);
    const offset = this.#camera.position.clone().sub(this.#controls.target);
    this.#controls.target.copy(target);
    this.#camera.position.copy(target).add(offset);
    this.#controls.update();
    this.#moved();
  }

  resize(width: number, height: number): void {
    this.#renderer.setSize(width, height, false);
    this.#camera.aspect = width / Math.max(1, height);
    this.#camera.updateProjectionMatrix();
    this.draw();
  }

  /** From the left camera's axes to the screen: rows of u w, v w and w. */
  get projection(): [number[], number[], number[]] {
    this.#camera.updateMatrixWorld();
    const matrix = new Matrix4().multiplyMatrices(this.#camera.projectionMatrix, this.#camera.matrixWorldInverse);
    const row = (k: number): number[] => {
      const e = matrix.elements;
      return [e[k] ?? 0, -(e[4 + k] ?? 0), -(e[8 + k] ?? 0), e[12 + k] ?? 0];
    };
    return [row(0), row(1), row(3)];
  }

  /** The point that is seen at a place of the screen (-1 to 1): its piece and place. */
  pick(u: number, v: number, least: number): { piece: Piece; place: number } | null {
    const { width, height } = this.canvas.getBoundingClientRect();
    const rows = this.projection;
    const reach = 7;
    let best: { piece: Piece; place: number } | null = null;
    let cost = Infinity;
    for (const { piece } of this.#shown) {
      const many = Math.min(piece.count, 400_000);
      for (let place = 0; place < many; place++) {
        const [x, y, w] = projected(rows, piece.points, place);
        const away = Math.hypot(((x - u) * width) / 2, ((y - v) * height) / 2);
        if (!(w > 0) || away > reach || piece.removed[place]) continue;
        if (least > 0 && !((piece.sigma[place] ?? NaN) >= least)) continue;
        // The nearer to the eye, and the nearer to the pointer, the better.
        const price = w * (1 + away / 40);
        if (price < cost) {
          cost = price;
          best = { piece, place };
        }
      }
    }
    return best;
  }

  /** The pixels of the view that the screen shows: x, y, width, height; null for none. */
  window(): [number, number, number, number] | null {
    const piece = this.#shown[0]?.piece;
    if (piece === undefined) return null;
    const rows = this.projection;
    let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
    for (let place = 0; place < Math.min(piece.count, 60_000); place++) {
      const [u, v, w] = projected(rows, piece.points, place);
      if (!(w > 0) || Math.abs(u) > 1 || Math.abs(v) > 1) continue;
      const [x, y] = pixelOf(piece, place);
      left = Math.min(left, x);
      right = Math.max(right, x);
      top = Math.min(top, y);
      bottom = Math.max(bottom, y);
    }
    return right > left && bottom > top ? [left, top, right - left + 1, bottom - top + 1] : null;
  }

  /** Milliseconds of each of some frames, with all points, while the view turns. */
  frames(count: number): number[] {
    const gl = this.#renderer.getContext();
    const pixel = new Uint8Array(4);
    this.#range(Infinity);
    const times: number[] = [];
    for (let k = 0; k < count; k++) {
      this.turn(k % 2 === 0 ? 0.02 : -0.02, 0);
      const start = performance.now();
      this.#renderer.render(this.#scene, this.#camera);
      // Waits until the picture is there.
      gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel);
      times.push(performance.now() - start);
    }
    return times;
  }

  dispose(): void {
    clearTimeout(this.#still);
    this.#clear();
    this.#controls.dispose();
    this.#material.dispose();
    this.#renderer.dispose();
  }

  #moved(): void {
    this.#moving = true;
    clearTimeout(this.#still);
    this.#still = window.setTimeout(() => {
      this.#moving = false;
      this.draw();
      this.onStill();
    }, STILL_MS);
    this.draw();
  }

  #render(): void {
    this.#range(this.#moving ? this.#budget : Infinity);
    const start = performance.now();
    this.#renderer.render(this.#scene, this.#camera);
    if (this.#moving) {
      // What is slow draws fewer points until the view is still; what is fast draws more again.
      const took = performance.now() - start;
      this.#budget = Math.min(2_000_000, Math.max(FEWEST, this.#budget * (took > SMOOTH_MS ? 0.6 : 1.15)));
    }
  }

  #range(budget: number): void {
    const share = Math.min(1, budget / Math.max(1, this.drawn));
    for (const { piece, points } of this.#shown) points.geometry.setDrawRange(0, Math.ceil(piece.count * share));
  }

  #add(piece: Piece): void {
    const geometry = new BufferGeometry();
    const gone = new BufferAttribute(new Uint8Array(piece.removed), 1);
    geometry.setAttribute("position", new BufferAttribute(turned(piece.points), 3));
    geometry.setAttribute("tint", new BufferAttribute(piece.colours, 3, true));
    geometry.setAttribute("sigma", new BufferAttribute(known(piece.sigma), 1));
    geometry.setAttribute("gone", gone);
    const points = new Points(geometry, this.#material);
    points.frustumCulled = false;
    this.#scene.add(points);
    this.#shown.push({ piece, points, gone });
  }

  #remove({ points }: Shown): void {
    this.#scene.remove(points);
    points.geometry.dispose();
  }

  #clear(): void {
    for (const shown of this.#shown.splice(0)) this.#remove(shown);
  }

  #uniform(name: string, value: unknown): void {
    const uniform = this.#material.uniforms[name];
    if (uniform !== undefined) uniform.value = value;
    this.draw();
  }
}

/** From a camera's axes (y down, z forward) to those of WebGL (y up, z backward). */
function turned(points: Float32Array): Float32Array {
  const result = new Float32Array(points.length);
  for (let place = 0; place < points.length; place += 3) {
    result[place] = points[place] ?? 0;
    result[place + 1] = -(points[place + 1] ?? 0);
    result[place + 2] = -(points[place + 2] ?? 0);
  }
  return result;
}

/** Shaders do not agree on NaN: what is unknown is negative there. */
function known(sigma: Float32Array): Float32Array {
  return sigma.map((value) => (Number.isNaN(value) ? -1 : value));
}

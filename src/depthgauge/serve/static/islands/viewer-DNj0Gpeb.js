import{o as e}from"./controls-DkslJ61V.js";var t=e`
  .box { position: relative; background: #0c0d0f; border-radius: 4px; overflow: hidden; min-width: 0; }
  .box canvas { display: block; width: 100%; height: 100%; touch-action: none; cursor: grab; outline-offset: -3px; }
  .box canvas:active { cursor: grabbing; }
  .name {
    position: absolute; left: .5rem; top: .5rem; max-width: calc(100% - 1rem); padding: .1rem .5rem; border-radius: 4px;
    background: rgb(12 13 15 / .85); color: #f2f1ed; font-size: .82rem; pointer-events: none; overflow-wrap: anywhere;
  }
  .name.right { left: auto; right: .5rem; }
  input[type="range"] { min-height: 1.6rem; }
  .wide { display: flex; font-size: .9rem; align-items: center; gap: .6rem; }
  .wide input { flex: 1 1 8rem; min-width: 0; max-width: 30rem; }
`;function n(e){let t=window.devicePixelRatio||1,n=Math.max(1,Math.round(e.clientWidth*t)),r=Math.max(1,Math.round(e.clientHeight*t));return(e.width!==n||e.height!==r)&&(e.width=n,e.height=r),e.getContext(`2d`)}async function r(e){let t=new Image;return t.src=e,await t.decode(),t}function i(e){let t=0;return()=>{t===0&&(t=requestAnimationFrame(()=>{t=0,e()}))}}export{t as i,r as n,i as r,n as t};
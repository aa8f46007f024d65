// The losses of a training run as a drawing in an SVG file.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

class LossCurve {
public:
  explicit LossCurve(std::string title) : title_(std::move(title)) {}
  /// Steps come in rising order.
  void add(int64_t step, double loss) { points_.push_back({static_cast<double>(step), loss}); }

  /// Replaces the file as a whole. Throws std::runtime_error if it cannot be written.
  void write(const std::string &path) const {
    std::string unfinished = path + ".new";
    std::ofstream file(unfinished, std::ios::trunc);
    file << svg();
    file.close();
    std::error_code failed;
    if (file)
      std::filesystem::rename(unfinished, path, failed);
    if (!file || failed)
      throw std::runtime_error(path + " cannot be written");
  }

  std::string svg() const {
    std::string out = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 640 360\" "
                      "font-family=\"sans-serif\" font-size=\"12\">\n"
                      "<rect width=\"640\" height=\"360\" fill=\"white\"/>\n" +
                      text(320, 24, "middle", title_);
    for (int i = 0; i <= kTicks; ++i) {
      double part = static_cast<double>(i) / kTicks;
      double y = kBottom - part * (kBottom - kTop), x = kLeft + part * (kRight - kLeft);
      out += "<line x1=\"" + number(kLeft) + "\" x2=\"" + number(kRight) + "\" y1=\"" + number(y) +
             "\" y2=\"" + number(y) + "\" stroke=\"#ddd\"/>\n" +
             text(kLeft - 8, y + 4, "end", number(part * most())) +
             text(x, kBottom + 20, "middle", std::to_string(int64_t(part * lastStep())));
    }
    out += text((kLeft + kRight) / 2, kBottom + 40, "middle", "step") +
           "<polyline fill=\"none\" stroke=\"#1f6fb2\" stroke-width=\"1.5\" points=\"";
    for (const Point &point : points_)
      out += number(kLeft + point.step / lastStep() * (kRight - kLeft)) + "," +
             number(kBottom - point.loss / most() * (kBottom - kTop)) + " ";
    return out + "\"/>\n</svg>\n";
  }

private:
  struct Point {
    double step, loss;
  };
  static constexpr double kLeft = 60, kRight = 620, kTop = 40, kBottom = 310;
  static constexpr int kTicks = 4;

  double lastStep() const { return points_.empty() ? 1 : std::max(points_.back().step, 1.0); }
  double most() const {
    double largest = 1e-9;
    for (const Point &point : points_)
      largest = std::max(largest, point.loss);
    return largest;
  }
  static std::string number(double value) {
    char buffer[32];
    std::snprintf(buffer, sizeof buffer, "%.2f", value);
    return buffer;
  }
  static std::string text(double x, double y, const char *anchor, const std::string &words) {
    return "<text x=\"" + number(x) + "\" y=\"" + number(y) + "\" text-anchor=\"" + anchor + "\">" +
           words + "</text>\n";
  }

  std::string title_;
  std::vector<Point> points_;
};

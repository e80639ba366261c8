// SPDX-License-Identifier: Apache-2.0
namespace {
using Extents = std::vector<int64_t>;

[[noreturn]] void Fail(const std::string& message)
{
    std::fprintf(stderr, "%s\n", message.c_str());
    std::exit(1);
}

void Check(aclError status, const char* what)
{
    if (status != ACL_SUCCESS) {
        Fail(std::string(what) + " failed with status " + std::to_string(status));
    }
}

// Extents separated by commas.
Extents ParseShape(const std::string& text)
{
    Extents shape;
    for (size_t start = 0; start < text.size();) {
        size_t used = 0;
        shape.push_back(std::stoll(text.substr(start), &used));
        start += used + 1;
    }
    return shape;
}

size_t ByteCount(const Extents& shape, size_t elementBytes)
{
    size_t count = elementBytes;
    for (const int64_t extent : shape) {
        count *= static_cast<size_t>(extent);
    }
    return count;
}

uint8_t* Allocate(size_t bytes)
{
    void* memory = nullptr;
    const size_t least = 32;
    Check(aclrtMalloc(&memory, std::max(bytes, least), ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
    return static_cast<uint8_t*>(memory);
}

// An input from its file to the device.
uint8_t* Upload(const std::string& name, size_t bytes)
{
    const std::string path = "./input/" + name + ".bin";
    std::vector<char> content(bytes);
    std::ifstream file(path, std::ios::binary);
    if (!file.read(content.data(), static_cast<std::streamsize>(bytes))) {
        Fail(path + " has less than " + std::to_string(bytes) + " bytes");
    }
    uint8_t* memory = Allocate(bytes);
    if (bytes > 0) {
        Check(aclrtMemcpy(memory, bytes, content.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE), "aclrtMemcpy");
    }
    return memory;
}

// An output from the device to its file.
void Download(const std::string& name, const uint8_t* memory, size_t bytes)
{
    std::vector<char> content(bytes);
    if (bytes > 0) {
        Check(aclrtMemcpy(content.data(), bytes, memory, bytes, ACL_MEMCPY_DEVICE_TO_HOST), "aclrtMemcpy");
    }
    const std::string path = "./output/" + name + ".bin";
    std::ofstream file(path, std::ios::binary);
    if (!file.write(content.data(), static_cast<std::streamsize>(bytes))) {
        Fail("cannot write " + path);
    }
}
}  // namespace
